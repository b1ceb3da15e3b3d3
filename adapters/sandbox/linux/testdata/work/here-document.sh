# needs: cat
name=world
cat >f <<END
hello $name $((6 * 7))
END
test "$(cat f)" = 'hello world 42'
cat >g <<'END'
raw $name
END
test "$(cat g)" = 'raw $name'
i=0
while [ $i -lt 2000 ]; do echo "0123456789012345678901234567890123456789012345678901234567890123"; i=$((i + 1)); done >big
sh <<END
test "$(wc -c <big)" = 130000
cat >copy <<'IN'
$(cat big)
IN
END
cmp big copy
