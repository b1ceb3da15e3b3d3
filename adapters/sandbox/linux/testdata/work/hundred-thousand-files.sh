# needs: seq xargs find
# long
mkdir d
cd d
seq 1 100000 | split -l 1 -a 4 - f
test "$(find . -type f | wc -l)" = 100000
test "$(ls -f | wc -l)" = 100002
test "$(du -s --inodes . | cut -f1)" = 100001
cd ..
rm -rf d
test ! -e d
