# needs: head od
echo gone >/dev/null
test "$(wc -c </dev/null)" = 0
test "$(head -c 4 /dev/zero | od -An -tx1 | tr -d ' \n')" = 00000000
test "$(head -c 64 /dev/urandom | wc -c)" = 64
if LC_ALL=C cp job.sh /dev/full 2>why; then exit 1; fi
grep -q 'No space left' why
echo out >/dev/stdout
echo err >/dev/stderr
echo piped | cat /dev/stdin >in
test "$(cat in)" = piped
echo a >/dev/shm/a
test "$(cat /dev/shm/a)" = a
rm /dev/shm/a
test -d /dev/fd
