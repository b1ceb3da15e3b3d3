# needs: bash
for i in 1 2 3 4 5 6 7 8; do (sleep 0.05; echo $i >r$i; exit $i) & pids[i]=$!; done
for i in 1 2 3 4 5 6 7 8; do wait "${pids[i]}" && exit 1 || [ $? = $i ]; done
[ "$(cat r? | sort | tr -d '\n')" = 12345678 ]
sleep 0.05 & sleep 60 & slow=$!
wait -n
kill $slow
wait $slow || true
for i in $(seq 20); do for j in 1 2 3 4 5 6 7 8; do true & done; wait; done
[ "$(jobs | grep -c Running)" = 0 ]
(setsid sh -c 'sleep 0.05; echo orphan >orphan' &)
until [ -s orphan ]; do sleep 0.01; done
for i in $(seq 100); do /bin/true; done
