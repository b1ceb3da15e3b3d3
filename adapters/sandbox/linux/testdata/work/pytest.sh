# needs: /usr/bin/python3 python:pytest
mkdir tests
cat >tests/test_work.py <<'P'
import multiprocessing, os, subprocess, sys, threading
import pytest
def square(x): return x * x
def test_subprocess(): assert subprocess.check_output([sys.executable, '-c', 'print(6 * 7)']).strip() == b'42'
def test_pool():
    with multiprocessing.get_context('fork').Pool(4) as p: assert p.map(square, range(10)) == [x * x for x in range(10)]
def test_spawn():
    with multiprocessing.get_context('spawn').Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]
def test_tmp(tmp_path): (tmp_path / 'f').write_text('x'); assert (tmp_path / 'f').read_text() == 'x'
def test_output(capfd): os.system('echo out'); assert capfd.readouterr().out == 'out\n'
def test_threads():
    done = []; ts = [threading.Thread(target=done.append, args=(i,)) for i in range(50)]; [t.start() for t in ts]; [t.join() for t in ts]; assert len(done) == 50
@pytest.mark.parametrize('n', range(20))
def test_many(n): assert n < 20
def test_environment(monkeypatch): monkeypatch.setenv('A', 'b'); assert os.environ['A'] == 'b'
P
/usr/bin/python3 -m pytest -q --junitxml=report.xml tests >out
grep -q '27 passed' out
grep -q 'tests="27"' report.xml
test -d .pytest_cache
echo 'def test_no(): assert 1 == 2' >tests/test_no.py
if /usr/bin/python3 -m pytest -q tests/test_no.py >out; then exit 1; else test $? = 1; fi
/usr/bin/python3 -m unittest -q tests.test_work 2>/dev/null || test $? = 5
