# needs: script
script -qec 'test -t 1 && tty && stty size' typescript >out </dev/null
grep -q /dev/pts/ out
grep -q /dev/pts/ typescript
if script -qec 'exit 5' /dev/null </dev/null; then exit 1; else test $? = 5; fi
