# needs: tar gzip
mkdir -p t/d
head -c 300000 /dev/urandom >t/random
seq 1 50000 >t/d/text
ln -s d/text t/link
chmod 600 t/random
touch -d 2001-01-01 t/d/text
tar cf plain.tar t
for z in gzip bzip2 xz zstd; do
  command -v $z >/dev/null || continue
  tar cf t.tar.$z --use-compress-program=$z t
  mkdir out
  tar xf t.tar.$z -C out --use-compress-program=$z
  diff -r t out/t
  test "$(stat -c '%a %Y' out/t/random out/t/d/text)" = "$(stat -c '%a %Y' t/random t/d/text)"
  rm -r out
  $z -c <t/d/text | $z -dc | cmp - t/d/text
done
gzip -k t/d/text
gzip -t t/d/text.gz
tar tzf t.tar.gzip | grep -q t/link
