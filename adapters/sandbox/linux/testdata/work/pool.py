import concurrent.futures, multiprocessing, os, subprocess
from multiprocessing import shared_memory
def square(x): return x * x
def shell(x): return int(subprocess.run(['sh', '-c', f'echo $(({x} + 1))'], capture_output=True, check=True).stdout)
def fill(name, i):
    s = shared_memory.SharedMemory(name=name); s.buf[i] = i; s.close()
def talk(q, back):
    for x in iter(q.get, None): back.put(x * 2)
if __name__ == '__main__':
    for method in 'fork', 'spawn':
        m = multiprocessing.get_context(method)
        with m.Pool(4) as p:
            assert p.map(square, range(100)) == [x * x for x in range(100)]
            assert p.map(shell, range(6)) == list(range(1, 7))
            assert sorted(p.imap_unordered(square, range(5))) == [0, 1, 4, 9, 16]
        q, back = m.Queue(), m.Queue()
        p = m.Process(target=talk, args=(q, back)); p.start()
        for x in range(1000): q.put(x)
        q.put(None); assert sorted(back.get(timeout=60) for _ in range(1000)) == [2 * x for x in range(1000)]; p.join()
        a, b = m.Pipe(); a.send({'k': [1]}); assert b.recv() == {'k': [1]}
    s = shared_memory.SharedMemory(create=True, size=1 << 20)
    ps = [multiprocessing.Process(target=fill, args=(s.name, i)) for i in range(4)] if multiprocessing.get_start_method() != 'forkserver' else []
    [p.start() for p in ps]; [p.join() for p in ps]; assert not ps or bytes(s.buf[:4]) == b'\0\1\2\3'; s.close(); s.unlink()
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=multiprocessing.get_context('fork')) as e: assert sum(e.map(square, range(50))) == 40425
    with concurrent.futures.ThreadPoolExecutor(32) as e: assert sum(e.map(shell, range(20))) == 210
    v = multiprocessing.Array('d', 1000); v[7] = 1.5; assert v[7] == 1.5
