# Tests of wordcount.sh, run as a real program.
here=$(dirname "$0")
failed=0
check() { # name, want, text
    printf '%b' "$3" > "${TMPDIR:-/tmp}/in.txt"
    got=$(sh "$here/wordcount.sh" "${TMPDIR:-/tmp}/in.txt")
    if [ "$got" = "$2" ]; then echo "ok: $1"; else echo "FAILED: $1: got $got, want $2"; failed=1; fi
}
check "words on one line" 3 'one two three\n'
check "lines and double spaces" 3 'one  two\nthree\n'
check "empty file" 0 ''
exit $failed
