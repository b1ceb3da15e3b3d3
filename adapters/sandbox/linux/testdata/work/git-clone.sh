# needs: git
git init -q -b main r && cd r
git config user.email a@example.com && git config user.name a
for i in 1 2 3 4 5; do seq 1 $((i * 1000)) >f$i && git add . && git commit -qm $i; done
cd ..
git clone -q r local
git clone -q --no-local r full
git clone -q --bare r bare.git
git clone -q --depth 1 "file://$PWD/r" shallow
test "$(git -C shallow log --oneline | wc -l)" = 1
cd full
git config user.email b@example.com && git config user.name b
git remote set-url origin "$PWD/../bare.git"
echo x >x && git add x && git commit -qm x && git push -q origin main
test "$(git -C ../bare.git log --oneline | wc -l)" = 6
cd ../local && git pull -q --ff-only "$PWD/../bare.git" main && test -f x
git gc -q --prune=now && git fsck --no-progress
git repack -adq && git bundle create -q ../b.bundle main
git clone -q -b main ../b.bundle ../bundled && test -f ../bundled/x
git archive HEAD | tar t | grep -q f5
git format-patch -q -1 && git apply --check -R 0001-x.patch
