import errno, fcntl, os, subprocess, sys
if len(sys.argv) > 1:
    f = open('f', 'r+')
    try: {'flock': lambda: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB), 'lockf': lambda: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)}[sys.argv[1]]()
    except OSError as e: sys.exit(e.errno if e.errno != errno.EACCES else errno.EAGAIN)
    sys.exit(0)
open('f', 'w').write('x')
def other(how): return subprocess.run([sys.executable, __file__, how]).returncode
for how in 'flock', 'lockf':
    f = open('f', 'r+'); take = getattr(fcntl, how)
    take(f, fcntl.LOCK_EX); assert other(how) == errno.EAGAIN, how
    take(f, fcntl.LOCK_UN); assert other(how) == 0, how
a, b = open('f', 'r+'), open('f', 'r+')
ofd = lambda f, kind: fcntl.fcntl(f, 37, __import__('struct').pack('hhqqi4x', kind, 0, 0, 0, 0))  # F_OFD_SETLK
ofd(a, fcntl.F_WRLCK)
try: ofd(b, fcntl.F_WRLCK); raise SystemExit('locked twice')
except OSError as e: assert e.errno in (errno.EAGAIN, errno.EACCES)
