# needs: gdb gcc
printf 'int twice(int n) { return 2 * n; }\nint main(void) { return twice(21) - 42; }\n' >m.c
gcc -g -O0 -o m m.c
gdb -q -nx -batch -ex 'break twice' -ex run -ex 'print n' -ex bt -ex finish -ex continue ./m >out 2>err
grep -q '= 21' out
grep -q 'exited normally' out
