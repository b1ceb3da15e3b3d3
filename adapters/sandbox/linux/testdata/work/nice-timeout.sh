# needs: nice timeout
test "$(nice -n 5 nice)" = 5
if timeout 0.2 sleep 60; then exit 1; else test $? = 124; fi
timeout 60 true
if timeout -s KILL 0.2 sleep 60; then exit 1; else test $? = 137; fi
nohup true >/dev/null 2>&1
command -v ionice >/dev/null && ionice -c 3 true
command -v taskset >/dev/null && taskset -c "$(taskset -cp $$ | sed 's/.*: //')" true
command -v setsid >/dev/null && setsid -w sh -c 'exit 0'
command -v stdbuf >/dev/null && test "$(stdbuf -oL echo x)" = x
