# needs: stat
(umask 077; touch private; mkdir closed)
(umask 022; touch shared)
test "$(stat -c %a private closed shared | tr '\n' ' ')" = '600 700 644 '
(ulimit -n 64; test "$(ulimit -n)" = 64)
test "$(ulimit -n)" -ge 1024
(ulimit -s 1024; test "$(ulimit -s)" = 1024; true)
(ulimit -f 8; if head -c 100000 /dev/zero >big 2>/dev/null; then exit 1; fi; exit 0)
(ulimit -c 0)
(ulimit -t 100; seq 1 10 >/dev/null)
