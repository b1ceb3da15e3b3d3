# needs: ed
printf 'a\none\ntwo\n.\nw f\nq\n' | ed -s
printf '1s/one/1/\nw\nq\n' | ed -s f
test "$(cat f)" = "$(printf '1\ntwo')"
