# A path longer than one call takes (PATH_MAX is 4,096) is made, used and removed step by step.
import os
top = os.getcwd(); part = 'd' * 200; depth = 22  # 4,400 bytes
for _ in range(depth): os.mkdir(part); os.chdir(part)
open('f' * 255, 'w').write('deep'); assert open('f' * 255).read() == 'deep' and len(os.listdir('.')) == 1
os.unlink('f' * 255)
for _ in range(depth): os.chdir('..'); os.rmdir(part)
assert os.path.samefile('.', top)
near = 'x/' * ((4090 - len(top)) // 2 - 2) + 'f'  # one path just below the limit
at = ''
for p in near.split('/')[:-1]: at += p + '/'; os.mkdir(at)
open(os.path.join(top, near), 'w').write('near'); assert open(os.path.join(top, near)).read() == 'near'
import shutil, sys; sys.setrecursionlimit(10000); os.unlink(os.path.join(top, near)); os.removedirs(at)
