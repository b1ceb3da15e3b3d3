# needs: flock
flock lock sh -c 'if flock -n lock true; then exit 1; fi; echo held >held'
test "$(cat held)" = held
flock -n lock true
for i in 1 2 3 4; do (flock 9; n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n) 9>lock & done
wait
test "$(cat n)" = 4
