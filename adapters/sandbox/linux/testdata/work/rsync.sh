# needs: rsync
mkdir -p src/a/b
seq 1 1000 >src/a/b/f
ln -s a/b/f src/link
rsync -a src/ dst/
diff -r src dst
echo more >>src/a/b/f
rm src/link
rsync -a --delete --stats src/ dst/ >/dev/null
diff -r src dst
test ! -e dst/link
