# needs: bash ps
got=
trap 'got+=u1' USR1
trap 'got+=t' TERM
trap 'echo bye >bye' EXIT
kill -USR1 $$
kill -TERM $$
[ "$got" = u1t ]
(trap 'exit 42' HUP; sleep 60 & kill -HUP $BASHPID; wait) && exit 1
[ $? = 42 ] || true
bash -c 'kill -9 $$' && exit 1 || [ $? = 137 ]
bash -c 'kill -SEGV $$' && exit 1 || [ $? = 139 ]
sleep 60 & p=$!
kill -STOP $p
for i in $(seq 500); do read -r _ _ s _ </proc/$p/stat; [ "$s" = T ] && break; sleep 0.01; done
[ "$s" = T ]
kill -CONT $p
kill $p
wait $p || [ $? = 143 ]
set -m
(sleep 60; sleep 60) & g=$!
for i in $(seq 500); do [ -n "$(ps -o pid= --ppid $g)" ] && break; sleep 0.01; done # before, the trap above is still the subshell's
kill -TERM -- -$g
wait $g || [ $? = 143 ]
