"""kakeibo.py を本物のプログラムとして subprocess で動かすテストです。"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parent / "kakeibo.py"
BOOK = "日付,分類,金額\n2026-02-28,食費,980\n2026-03-01,食費,\"1,200\"\n2026-03-02,交通費,540\n2026-03-09,食費,300\n"


def run(*args):
    environment = dict(os.environ, PYTHONUTF8="1")
    return subprocess.run([sys.executable, "-B", str(PROGRAM), *args], capture_output=True, encoding="utf-8", env=environment, timeout=60)


class Kakeibo(unittest.TestCase):
    def book(self, text):
        handle, path = tempfile.mkstemp(suffix=".csv")
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            f.write(text)
        self.addCleanup(os.unlink, path)
        return path

    def test_months_and_kinds(self):
        result = run("--json", self.book(BOOK))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout), {"2026-02": {"食費": 980}, "2026-03": {"交通費": 540, "食費": 1500}})

    def test_one_month_for_people(self):
        result = run("--month", "2026-03", self.book(BOOK))
        self.assertEqual(result.stdout, "2026-03\n  交通費: 540円\n  食費: 1500円\n  合計: 2040円\n")

    def test_several_at_once(self):
        paths = [self.book(BOOK) for _ in range(4)]
        running = [subprocess.Popen([sys.executable, "-B", str(PROGRAM), "--json", p], stdout=subprocess.PIPE) for p in paths]
        self.assertEqual([(p.communicate()[0] != b"", p.returncode) for p in running], [(True, 0)] * 4)

    def test_problems(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("no such file").returncode, 1)
        self.assertIn("列がありません: 金額", run(self.book("日付,分類\n")).stderr)
        self.assertIn("2 行目の金額を読めません: 多い", run(self.book("日付,分類,金額\n2026-03-01,食費,多い\n")).stderr)


if __name__ == "__main__":
    unittest.main()
