# needs: strace
strace -f -o trace -e trace=openat,execve sh -c 'cat job.sh >/dev/null; true'
grep -q 'execve(.*cat' trace
strace -c -o sum true
test -s sum
