# needs: sed
seq 1 1000 >f
chmod 640 f
sed -i 's/^5$/five/' f
test "$(sed -n 5p f)" = five
test "$(stat -c %a f)" = 640
sed -i.bak '1d' f
test "$(wc -l <f)" = 999
test "$(wc -l <f.bak)" = 1000
mkdir d
cp f d/a
cp f d/b
find d -type f -exec sed -i s/five/FIVE/ {} +
test "$(cat d/a d/b | grep -c FIVE)" = 2
