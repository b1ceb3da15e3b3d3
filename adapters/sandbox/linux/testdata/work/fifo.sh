# needs: mkfifo
mkfifo p "$TMPDIR/q"
(seq 1 1000 >p) &
test "$(tail -n 1 <p)" = 1000
wait
cat <"$TMPDIR/q" >got &
echo through >"$TMPDIR/q"
wait
test "$(cat got)" = through
