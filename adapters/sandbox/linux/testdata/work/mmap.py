import mmap, os
with open('f', 'wb') as f: f.truncate(1 << 20)
with open('f', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0); m[0:5] = b'hello'; m.flush()
    if os.fork() == 0: m[5:6] = b'!'; os._exit(0)
    os.wait(); assert m[0:6] == b'hello!'; m.resize(1 << 21) if hasattr(m, 'resize') else None; m.close()
assert open('f', 'rb').read(6) == b'hello!' and os.path.getsize('f') == 1 << 21
a = mmap.mmap(-1, 1 << 24); a[0:1] = b'x'
if os.fork() == 0: a[1:2] = b'y'; os._exit(0)
os.wait(); assert a[0:2] == b'xy'
b = bytearray(256 << 20); b[::4096] = b'z' * len(b[::4096]); del b
r, w = os.pipe(); assert os.splice if hasattr(os, 'splice') else True
fd = os.open('g', os.O_CREAT | os.O_RDWR); os.posix_fallocate(fd, 0, 1 << 20); os.pwrite(fd, b'p', 100); assert os.pread(fd, 1, 100) == b'p'
src = os.open('f', os.O_RDONLY); assert os.sendfile(fd, src, 0, 6) == 6 and os.copy_file_range(src, fd, 6, 0, 200) == 6
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED); os.sync()
