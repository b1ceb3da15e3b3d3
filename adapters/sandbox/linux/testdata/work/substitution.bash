# needs: bash diff
diff <(seq 1 5) <(printf '1\n2\n3\n4\n5\n')
seq 1 10 | tee >(wc -l >count) >/dev/null
while [ ! -s count ]; do sleep 0.01; done
[ "$(cat count)" = 10 ]
mapfile -t lines < <(printf 'a\nb\n')
[ "${#lines[@]}" = 2 ]
read -r word <<<"here string"
[ "$word" = "here string" ]
coproc cat
echo through >&"${COPROC[1]}"
read -r back <&"${COPROC[0]}"
[ "$back" = through ]
exec {out}>file
echo "by number" >&"$out"
exec {out}>&-
[ "$(<file)" = "by number" ]
