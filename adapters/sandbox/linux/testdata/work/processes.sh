# needs: ps
sleep 60 &
child=$!
ps -ef >all
grep -q 'sleep 60' all
test "$(ps -o comm= -p $child)" = sleep
test "$(ps -o user= -p $child | tr -d ' ')" = agent
test "$(ps -o ppid= -p $child | tr -d ' ')" = $$
if command -v pgrep >/dev/null; then pgrep -P $$ sleep | grep -q "^$child$"; fi
if command -v top >/dev/null; then TERM=dumb top -b -n 1 | grep -q sleep; fi
if command -v free >/dev/null; then free -m | grep -q Mem; fi
if command -v uptime >/dev/null; then uptime >/dev/null; fi
test "$(nproc)" -ge 1
test "$(getconf _NPROCESSORS_ONLN)" -ge 1
grep -q MemTotal /proc/meminfo
grep -q processor /proc/cpuinfo
test -r /proc/self/status
test "$(readlink /proc/self/cwd)" = "$PWD"
kill $child
wait $child || test $? = 143
df . >/dev/null
uname -sr | grep -q Linux
hostname >/dev/null 2>&1 || test -r /proc/sys/kernel/hostname
