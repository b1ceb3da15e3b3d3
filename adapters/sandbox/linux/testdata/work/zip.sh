# needs: zip unzip
mkdir t
seq 1 50000 >t/f
chmod 700 t/f
echo ü >"t/ü ö"
zip -qr t.zip t
unzip -tq t.zip >/dev/null
unzip -q t.zip -d out
diff -r t out/t
test "$(stat -c %a out/t/f)" = 700
