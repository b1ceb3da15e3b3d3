# needs: vim
seq 1 10 >f
vim -es -u NONE -i NONE -c '%s/^5$/five/' -c wq f
test "$(sed -n 5p f)" = five
vim -N -es -u NONE -i NONE -c 'set backup backupcopy=no' -c '1d' -c wq f
test "$(wc -l <f)" = 9
test -f f~
vim -es -u NONE -i NONE -c 'set undofile undodir=.' -c '1d' -c wq f
test "$(wc -l <f)" = 8
