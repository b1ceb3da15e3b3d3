# needs: seq
for i in $(seq 0 255); do sh -c "exit $i" && c=0 || c=$?; test $c = $i; done
if nosuchcommand 2>/dev/null; then exit 1; else test $? = 127; fi
touch plain
if ./plain 2>/dev/null; then exit 1; else test $? = 126; fi
set +e
false | true
test $? = 0
