# execve(2): one string up to 128 KiB, all of them up to a quarter of the stack limit
import os, subprocess, sys
one = 'x' * (128 * 1024 - 1)
assert subprocess.run(['sh', '-c', 'echo ${#1}', 'sh', one], capture_output=True).stdout == b'131071\n'
many = ['y' * 1000] * 1500
assert subprocess.run([sys.executable, '-c', 'import sys; print(len(sys.argv))', *many], capture_output=True).stdout == b'1501\n'
assert subprocess.run(['sh', '-c', 'echo ${#BIG}'], env={**os.environ, 'BIG': 'z' * 131000}, capture_output=True).stdout == b'131000\n'
assert subprocess.run(['env'], env={f'V{i}': 'v' * 100 for i in range(5000)}, capture_output=True).stdout.count(b'\n') == 5000
try: subprocess.run(['true', one + 'x']); raise SystemExit('more than a string may have')
except OSError as e: assert e.errno == 7
try: subprocess.run(['true', *['x' * 130000] * 100]); raise SystemExit('more than the stack gives')
except OSError as e: assert e.errno == 7
