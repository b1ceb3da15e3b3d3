# needs: git
git init -q r && cd r
git config user.email a@example.com && git config user.name a
echo 1 >f && git add f && git commit -qm one
git checkout -qb two
echo 2 >f && git commit -qam two
test "$(git log --oneline | wc -l)" = 2
git diff --stat HEAD~1 | grep -q '1 insertion'
git mv f g && git commit -qm renamed
git tag -a v1 -m v1
git describe | grep -q v1
echo dirty >>g
git status --porcelain | grep -q '^ M g'
git checkout -q -- g
echo junk >junk && git clean -qfd && test ! -e junk
git blame g | grep -q 2
git bisect start HEAD HEAD~2 >/dev/null 2>&1
git bisect run sh -c 'test ! -e g' >/dev/null
git bisect reset >/dev/null 2>&1
git grep -q 2 two -- g
git show-ref -q --heads two
