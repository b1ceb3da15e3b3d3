# needs: gcc
cat >m.c <<'C'
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *run(void *p) { *(int *)p += 1; return p; }
int main(int argc, char **argv) {
	pthread_t t[8]; int n[8] = {0}, sum = 0;
	for (int i = 0; i < 8; i++) if (pthread_create(&t[i], 0, run, &n[i])) return 1;
	for (int i = 0; i < 8; i++) { pthread_join(t[i], 0); sum += n[i]; }
	printf("%d %.0f\n", sum, sqrt(atof(argc > 1 ? argv[1] : "49")));
	return sum == 8 ? 7 : 1;
}
C
gcc -O2 -Wall -Werror -pipe -o m m.c -lm -lpthread
if ./m 49 >out; then exit 1; else test $? = 7; fi
test "$(cat out)" = '8 7'
printf 'int twice(int n) { return 2 * n; }\n' >l.c
gcc -shared -fPIC -o libl.so l.c
gcc -c l.c && ar rcs libs.a l.o
printf 'int twice(int); int main(void) { return twice(21) != 42; }\n' >u.c
gcc -o dynamic u.c -L. -ll -Wl,-rpath,"$PWD" && ./dynamic
gcc -o fixed u.c libs.a && ./fixed
LD_LIBRARY_PATH=$PWD ldd ./dynamic | grep -q libl.so
printf 'int main(void) { *(volatile int *)0 = 1; }\n' >c.c && gcc -w -o c c.c
if sh -c './c' 2>/dev/null; then exit 1; else test $? = 139; fi
