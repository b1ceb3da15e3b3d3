# needs: node
cat >w.js <<'J'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { execFileSync, fork, spawn } = require('child_process');
const assert = require('assert'), fs = require('fs'), os = require('os'), path = require('path');
if (!isMainThread) { parentPort.postMessage(workerData * 2); return; }
if (process.argv[2] === 'child') { process.send({ got: process.pid }); process.disconnect(); return; }
(async () => {
  const doubled = await Promise.all([1, 2, 3, 4].map(n => new Promise((ok, no) => { const w = new Worker(__filename, { workerData: n }); w.on('message', ok); w.on('error', no); })));
  assert.deepStrictEqual(doubled, [2, 4, 6, 8]);
  assert.strictEqual(execFileSync('echo', ['hi']).toString(), 'hi\n');
  const c = fork(__filename, ['child']); const m = await new Promise(ok => c.on('message', ok)); assert.strictEqual(m.got, c.pid);
  const s = spawn('cat'); s.stdin.end('x'.repeat(100000)); let n = 0; for await (const b of s.stdout) n += b.length; assert.strictEqual(n, 100000);
  fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('d/e/f', 'x'); await fs.promises.rename('d/e/f', 'd/f'); fs.rmSync('d', { recursive: true });
  const t = fs.mkdtempSync(path.join(os.tmpdir(), 'x-')); fs.rmSync(t, { recursive: true });
  assert(os.userInfo().username === 'agent' && os.cpus().length > 0 && os.homedir());
  const b = new SharedArrayBuffer(8); Atomics.add(new Int32Array(b), 0, 5); assert.strictEqual(new Int32Array(b)[0], 5);
  const watch = new Promise(ok => { const w = fs.watch('.', (e, f) => { if (f === 'seen') { w.close(); ok(); } }); }); fs.writeFileSync('seen', ''); await watch;
  assert.strictEqual(require('zlib').gunzipSync(require('zlib').gzipSync('z')).toString(), 'z');
  require('crypto').randomBytes(16);
})().catch(e => { console.error(e); process.exit(1); });
J
node w.js
test "$(echo 'console.log(6*7)' | node -)" = 42
