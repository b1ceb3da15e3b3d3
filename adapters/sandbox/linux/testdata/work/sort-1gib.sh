# needs: sort base64
# long
head -c 805306368 /dev/urandom | base64 -w 1023 >big
test "$(stat -c %s big)" -ge 1073741824
LC_ALL=C sort big -o sorted
LC_ALL=C sort -c sorted
test "$(stat -c %s sorted)" = "$(stat -c %s big)"
