# stdin: 1048576
import hashlib, sys
data = sys.stdin.buffer.read()
assert len(data) == 1 << 20 and hashlib.sha256(data).hexdigest() == open('stdin.sha256').read()
