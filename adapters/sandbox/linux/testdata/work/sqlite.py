import os, sqlite3, subprocess, sys
if len(sys.argv) > 1:
    c = sqlite3.connect('d.db', timeout=60)
    for i in range(20):
        with c: c.execute('insert into t values (?)', (i,))
    sys.exit(0)
c = sqlite3.connect('d.db'); assert c.execute('pragma journal_mode=wal').fetchone() == ('wal',)
c.execute('create table t(a)'); c.commit()
ps = [subprocess.Popen([sys.executable, __file__, 'w']) for _ in range(3)]
assert [p.wait() for p in ps] == [0, 0, 0]
assert c.execute('select count(*), sum(a) from t').fetchone() == (60, 570) and os.path.exists('d.db-wal') and os.path.exists('d.db-shm')
c.execute('pragma wal_checkpoint(truncate)'); c.execute('vacuum'); c.close()
assert not os.path.exists('d.db-wal')
m = sqlite3.connect('e.db'); m.execute('pragma journal_mode=delete'); m.execute('create table x(y)')
with m: m.executemany('insert into x values (?)', [(i,) for i in range(10000)])
assert m.execute('pragma integrity_check').fetchone() == ('ok',)
