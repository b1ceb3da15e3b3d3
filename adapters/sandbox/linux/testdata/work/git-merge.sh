# needs: git
git init -q -b main r && cd r
git config user.email a@example.com && git config user.name a
seq 1 20 >f && git add f && git commit -qm base
git checkout -qb side && sed -i 1s/1/one/ f && git commit -qam side
git checkout -q main && sed -i '$s/20/twenty/' f && git commit -qam main
git merge -q -m merged side
test "$(sed -n '1p;$p' f | tr '\n' ' ')" = 'one twenty '
git checkout -qb conflict HEAD~1 && sed -i 1s/1/eins/ f && git commit -qam eins
if git merge -q main >/dev/null 2>&1; then exit 1; fi
git diff --name-only --diff-filter=U | grep -q '^f$'
git checkout --theirs f && git add f && git commit -qm resolved
git checkout -qb feature main~1
echo n >n && git add n && git commit -qm n
git rebase -q main
test "$(git merge-base feature main)" = "$(git rev-parse main)"
GIT_SEQUENCE_EDITOR="sed -i 's/^pick/reword/'" GIT_EDITOR="sed -i s/^n/changed/" git rebase -q -i main
git log -1 --format=%s | grep -q changed
git cherry-pick conflict~1 >/dev/null 2>&1 || git cherry-pick --abort
git revert --no-edit HEAD >/dev/null
test ! -e n
git reflog | grep -q rebase
