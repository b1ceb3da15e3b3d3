import ctypes, os, select, struct
c = ctypes.CDLL(None, use_errno=True)
fd = c.inotify_init1(os.O_CLOEXEC); assert fd >= 0, os.strerror(ctypes.get_errno())
assert c.inotify_add_watch(fd, b'.', 0x100 | 0x200 | 0x8) > 0, os.strerror(ctypes.get_errno())
open('made', 'w').write('x'); os.unlink('made')
seen = set()
while seen != {0x100, 0x200, 0x8}:
    assert select.select([fd], [], [], 20)[0], seen
    data, at = os.read(fd, 4096), 0
    while at < len(data):
        _, mask, _, n = struct.unpack_from('iIII', data, at)
        if data[at + 16:at + 16 + n].rstrip(b'\0') == b'made': seen.add(mask)
        at += 16 + n
