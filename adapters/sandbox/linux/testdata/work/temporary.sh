# needs: mktemp
f=$(mktemp)
case $f in "$TMPDIR"/*) ;; *) exit 1 ;; esac
echo hi >"$f"
test "$(cat "$f")" = hi
d=$(mktemp -d)
printf '#!/bin/sh\necho ran\n' >"$d/p"
chmod +x "$d/p"
test "$("$d/p")" = ran
echo "home" >"$HOME/.rc"
mkdir -p "$HOME/.cache/x"
rm -r "$d" "$f"
t=$(TMPDIR=$PWD mktemp)
case $t in "$PWD"/*) ;; *) exit 1 ;; esac
