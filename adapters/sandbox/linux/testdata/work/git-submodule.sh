# needs: git
for r in lib app; do
  git init -q -b main $r
  git -C $r config user.email a@example.com
  git -C $r config user.name a
  (cd $r && echo $r >f && git add f && git commit -qm one)
done
cd app
git -c protocol.file.allow=always submodule add -q "$PWD/../lib" lib
git commit -qm lib
cd ..
git clone -q app copy
cd copy
git -c protocol.file.allow=always submodule update -q --init --recursive
test "$(cat lib/f)" = lib
git submodule foreach -q 'echo $name' | grep -q lib
git submodule status | grep -q lib
