# needs: git
git init -q -b main r && cd r
git config user.email a@example.com && git config user.name a
echo 1 >f && git add f && git commit -qm one
git worktree add -q ../other -b other
(cd ../other && echo 2 >f && git commit -qam two)
test "$(git log --oneline other | wc -l)" = 2
git worktree list | grep -q other
git worktree remove ../other
test ! -e ../other
echo changed >f && echo untracked >u
git stash -q -u
test "$(cat f)" = 1
test ! -e u
git stash pop -q
test "$(cat f)" = changed
git add -A && git stash -q && git stash drop -q
test -z "$(git status --porcelain)"
