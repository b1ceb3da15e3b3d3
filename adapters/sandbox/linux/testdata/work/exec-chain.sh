# needs: env
test "$(exec env A=1 sh -c 'exec sh -c "exec echo \$A"')" = 1
printf '#!/bin/sh\nexec ./two "$@" one\n' >one
printf '#!/usr/bin/env sh\nexec ./three "$@" two\n' >two
printf '#!/bin/sh -eu\nprintf "%%s." "$@"\n' >three
chmod +x one two three
test "$(./one zero)" = zero.one.two.
printf 'echo no interpreter line\n' >four
chmod +x four
test "$(./four)" = 'no interpreter line'
test "$(env -i ./three x)" = x.
n=0
printf '#!/bin/sh\nif [ "$1" -gt 0 ]; then exec "$0" $(($1 - 1)); fi\necho $$\n' >five
chmod +x five
test "$(sh -c 'echo $$; exec ./five 200' | uniq | wc -l)" = 1
