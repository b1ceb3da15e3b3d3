# needs: cp find xargs
mkdir -p src/sub
printf x >src/f
ln -s f src/link
ln src/f src/hard
mkfifo src/pipe
chmod 600 src/f
chmod 750 src/sub
touch -d 2001-01-01 src/f src/sub
cp -a src dst
test "$(cd src && find . -printf '%p %y %m %l %T@\n' | sort)" = "$(cd dst && find . -printf '%p %y %m %l %T@\n' | sort)" || {
  (cd src && find . -printf '%p %y %m %l %T@\n' | sort) >s; (cd dst && find . -printf '%p %y %m %l %T@\n' | sort) | diff s - ; }
test "$(stat -c %h dst/f)" = 2
cp --reflink=auto src/f g
mv dst moved
test ! -e dst
find moved -type f -print0 | xargs -0 chmod 644
test "$(stat -c %a moved/f)" = 644
find moved -name 'sub' -type d -exec rmdir {} +
install -D -m 755 src/f bin/deep/f
test "$(stat -c %a bin/deep/f)" = 755
dd if=/dev/zero of=z bs=64k count=4 conv=fsync status=none
test "$(stat -c %s z)" = 262144
truncate -s 100 z
rm -rf moved
