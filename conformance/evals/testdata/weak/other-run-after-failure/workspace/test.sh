[ "$(cat value.txt)" = 5 ] && echo PASS
