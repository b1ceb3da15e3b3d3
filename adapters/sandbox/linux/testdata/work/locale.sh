# needs: locale sort
test "$(locale charmap)" = UTF-8
test "$(LC_ALL=C.UTF-8 locale charmap)" = UTF-8
test "$(printf 'b\nB\na\n' | LC_ALL=C sort | tr '\n' ' ')" = 'B a b '
test "$(printf 'é\nz\nä\n' | LC_ALL=C.UTF-8 sort | tr '\n' ' ')" = 'z ä é '
test "$(printf 日本語 | wc -m)" = 3
test "$(printf 日本語 | LC_ALL=C wc -c)" = 9
