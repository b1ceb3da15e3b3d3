# needs: make cc
i=0
while [ $i -lt 24 ]; do echo "int f$i(void) { return $i; }" >f$i.c; i=$((i + 1)); done
echo 'int f23(void); int main(void) { return f23() != 23; }' >main.c
cat >Makefile <<'M'
OBJS := $(patsubst %.c,%.o,$(wildcard *.c))
app: $(OBJS)
	$(CC) -o $@ $^
%.o: %.c
	$(CC) -c -o $@ $<
check: app
	./app && echo fine
sub:
	$(MAKE) -C . check
.PHONY: check sub
M
make -s -j 4 app
test "$(make -s check)" = fine
make -s -j 4 --no-print-directory sub | grep -q fine
test -z "$(make -s app | grep -v 'up to date')"
touch f3.c
make -n app | grep -q f3.o
