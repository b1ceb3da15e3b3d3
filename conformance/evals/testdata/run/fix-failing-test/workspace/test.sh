r=$(sh add.sh 2 3)
if [ "$r" = 5 ]; then echo PASS; else echo "FAIL: got $r"; exit 1; fi
