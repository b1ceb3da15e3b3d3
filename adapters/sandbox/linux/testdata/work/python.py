import os, pathlib, pwd, shutil, socket, subprocess, sys, tempfile, threading
assert subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout == 'hi\n'
assert subprocess.run('exit 3', shell=True).returncode == 3
assert subprocess.run(['cat'], input=b'x' * 1000000, capture_output=True).stdout == b'x' * 1000000
with tempfile.NamedTemporaryFile() as f: f.write(b'x')
with tempfile.TemporaryDirectory() as d: pathlib.Path(d, 'a').write_text('1')
assert pwd.getpwuid(os.getuid()).pw_name == 'agent' and os.path.expanduser('~') == os.environ['HOME']
t = [threading.Thread(target=lambda: None) for _ in range(100)]; [x.start() for x in t]; [x.join() for x in t]
a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'
pathlib.Path('a').write_text('1'); os.replace('a', 'b'); os.chmod('b', 0o600); os.utime('b', (1, 1)); shutil.copystat('b', '.')
assert os.path.isabs(sys.executable) and subprocess.run([sys.executable, '-c', 'import json']).returncode == 0
assert socket.gethostname() and os.cpu_count() >= 1 and len(os.sched_getaffinity(0)) >= 1
if os.fork() == 0: os._exit(0)
os.wait()
