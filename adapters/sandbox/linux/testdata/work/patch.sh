# needs: diff patch awk
mkdir a b
printf 'one\ntwo\nthree\n' >a/f
printf 'one\n2\nthree\nfour\n' >b/f
echo gone >a/old
echo fresh >b/new
if diff -ruN a b >p; then exit 1; fi
cp -r a c
(cd c && patch -p1 -s <../p)
diff -r b c
(cd c && patch -p1 -R -s <../p)
diff -r a c
test "$(awk '{ n += length($0) } END { print n, NR }' a/f)" = '11 3'
cmp -s a/f b/f || test $? = 1
sort a/f >a.sorted
sort b/f >b.sorted
test "$(comm -12 a.sorted b.sorted | tr '\n' ' ')" = 'one three '
