# needs: chmod ln
mkdir d && echo x >d/f
for m in 400 600 644 755 700; do chmod $m d/f; test "$(stat -c %a d/f)" = $m; done
chmod 0 d/f
if [ "$(stat -c %u .)" != 0 ]; then chmod 644 d/f; fi
chmod u+rw d/f
chmod g+s d || true
chmod +t d
ln -s d/f link && test "$(cat link)" = x
ln d/f hard && test "$(stat -c %h hard)" = 2
ln -sfn d again && test -d again
ln -s nowhere dangling && test -L dangling && test ! -e dangling
test "$(readlink -f again/f)" = "$PWD/d/f"
test "$(realpath --relative-to=. d/f)" = d/f
chown "$(id -u):$(id -g)" hard
if command -v setfattr >/dev/null; then setfattr -n user.note -v hi hard && getfattr -n user.note hard | grep -q hi; fi
rm -rf d link hard again dangling
