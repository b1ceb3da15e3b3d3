import ctypes, multiprocessing, os, threading
# POSIX, named and unnamed
c = ctypes.CDLL(None, use_errno=True)
try: sem = c.sem_open
except AttributeError: c = ctypes.CDLL('libpthread.so.0', use_errno=True)
c.sem_open.restype = ctypes.c_void_p
s = c.sem_open(b'/work', os.O_CREAT | os.O_EXCL, 0o600, 1); assert s, os.strerror(ctypes.get_errno())
assert c.sem_wait(ctypes.c_void_p(s)) == 0 and c.sem_trywait(ctypes.c_void_p(s)) == -1 and c.sem_post(ctypes.c_void_p(s)) == 0
assert c.sem_unlink(b'/work') == 0
# System V: semaphores, shared memory, messages
sem = c.semget(0, 1, 0o1600); assert sem >= 0 and c.semctl(sem, 0, 16, 3) == 0 and c.semctl(sem, 0, 12) == 3 and c.semctl(sem, 0, 0) == 0
c.shmat.restype = ctypes.c_void_p
shm = c.shmget(0, 4096, 0o1600); at = c.shmat(shm, None, 0); assert at not in (None, 2**64 - 1)
ctypes.memset(at, 65, 4096); assert ctypes.string_at(at, 2) == b'AA' and c.shmdt(ctypes.c_void_p(at)) == 0 and c.shmctl(shm, 0, None) == 0
q = c.msgget(0, 0o1600); assert q >= 0 and c.msgctl(q, 0, None) == 0
# multiprocessing's, between processes
def work(sem, lock, cond, value):
    with sem, lock: value.value += 1
    with cond: cond.notify_all()
if __name__ == '__main__':
    m = multiprocessing.get_context('fork')
    sem, lock, cond, value = m.Semaphore(2), m.Lock(), m.Condition(), m.Value('i', 0)
    ps = [m.Process(target=work, args=(sem, lock, cond, value)) for _ in range(6)]
    [p.start() for p in ps]; [p.join() for p in ps]
    assert value.value == 6 and all(p.exitcode == 0 for p in ps)
