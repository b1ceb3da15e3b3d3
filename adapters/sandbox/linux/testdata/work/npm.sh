# needs: npm node
mkdir dep app
cat >dep/package.json <<'J'
{ "name": "dep", "version": "1.2.3", "main": "i.js", "bin": { "dep-tool": "t.js" }, "scripts": { "postinstall": "node -e \"require('fs').writeFileSync('built', 'x')\"" } }
J
echo 'module.exports = n => n * 2' >dep/i.js
printf '#!/usr/bin/env node\nconsole.log("tool")\n' >dep/t.js
(cd dep && npm pack --silent --pack-destination ..) >/dev/null
cat >app/package.json <<'J'
{ "name": "app", "version": "0.0.1", "scripts": { "test": "node test.js && dep-tool", "pretest": "echo before" } }
J
echo 'const a = require("assert"); a.strictEqual(require("dep")(21), 42); console.log("tested")' >app/test.js
cd app
npm install --offline --no-audit --no-fund --no-update-notifier --silent ../dep-1.2.3.tgz
test -f node_modules/dep/built
npm test --silent >out
grep -q before out
grep -q tested out
grep -q tool out
npm ci --offline --no-audit --no-fund --silent
test "$(npm ls --parseable | wc -l)" = 2
