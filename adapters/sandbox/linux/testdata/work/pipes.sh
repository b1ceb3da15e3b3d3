# needs: seq sort tr
test "$(seq 1 100000 | sort -rn | tail -n 1)" = 1
test "$(yes | head -n 1000 | sort | uniq -c | tr -d ' ')" = 1000y
seq 1 100000 | tee one | cat | cat | cat >two
cmp one two
test "$(cat one two | sha256sum)" = "$(cat two one | sha256sum)"
test "$(seq 1 9 | xargs -n 3 echo | wc -l)" = 3
test "$(seq 1 20 | xargs -P 4 -n 1 sh -c 'echo "$0"' | sort -n | tail -n 1)" = 20
