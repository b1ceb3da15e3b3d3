# Save patterns of editors: what others see through the old name is always whole.
import os, shutil, tempfile
def put(p, s): open(p, 'w').write(s)
put('f', 'old'); os.chmod('f', 0o640)
# temporary file and rename, with the mode kept and everything on disk
fd, t = tempfile.mkstemp(dir='.'); os.write(fd, b'one'); os.fchmod(fd, os.stat('f').st_mode & 0o777); os.fsync(fd); os.close(fd)
os.replace(t, 'f'); d = os.open('.', os.O_RDONLY); os.fsync(d); os.close(d)
assert open('f').read() == 'one' and os.stat('f').st_mode & 0o777 == 0o640
# backup by rename, then a new file
os.rename('f', 'f~'); put('f', 'two'); assert open('f~').read() == 'one'
# backup by copy, then truncate and write in place
inode = os.stat('f').st_ino; shutil.copy2('f', 'f.bak'); fd = os.open('f', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'three'); os.close(fd)
assert os.stat('f').st_ino == inode and open('f.bak').read() == 'two'
# backup by hard link
os.link('f', 'f.link'); put('g', 'four'); os.rename('g', 'f'); assert open('f.link').read() == 'three' and open('f').read() == 'four'
# swap file made exclusively, lock beside it, undo file hidden
os.close(os.open('.f.swp', os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
try: os.open('.f.swp', os.O_CREAT | os.O_EXCL | os.O_RDWR); raise SystemExit('made twice')
except FileExistsError: pass
os.symlink('someone@host.1:2', '.#f'); assert os.readlink('.#f') == 'someone@host.1:2'
# a link is written through, not replaced
os.symlink('f', 'alias'); put(os.path.realpath('alias'), 'five'); assert os.path.islink('alias') and open('f').read() == 'five'
# an unnamed file that gets its name when it is whole
d = os.open('.', os.O_DIRECTORY); fd = os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o644); os.write(fd, b'six'); os.link(f'/proc/self/fd/{fd}', 'six', src_dir_fd=d, follow_symlinks=True); os.close(fd)
assert open('six').read() == 'six'
for p in os.listdir('.'):
    if p != 'job.py': os.unlink(p)
