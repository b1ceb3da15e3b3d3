# needs: truncate dd
truncate -s 1T big
echo end | dd of=big bs=1 seek=1099511627000 conv=notrunc status=none
test "$(tail -c 776 big | head -c 3)" = end
test "$(du -k big | cut -f1)" -lt 1000
truncate -s 64M small
cp --sparse=always small copy
test "$(du -k copy | cut -f1)" -lt 1000
cmp small copy
fallocate -l 1M room && test "$(du -k room | cut -f1)" -ge 1024
rm big small copy room
