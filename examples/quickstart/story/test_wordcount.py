"""Tests of wordcount.py, run as a real program with subprocess."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wordcount.py")


def run(*args):
    return subprocess.run([sys.executable, PROGRAM, *args], capture_output=True, text=True, timeout=30)


class WordCount(unittest.TestCase):
    def count(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            result = run(f.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout)

    def test_words_on_one_line(self):
        self.assertEqual(self.count("one two three"), 3)

    def test_lines_and_double_spaces(self):
        self.assertEqual(self.count("one  two\nthree\n"), 3)

    def test_empty_file(self):
        self.assertEqual(self.count(""), 0)

    def test_usage(self):
        self.assertEqual(run().returncode, 2)


if __name__ == "__main__":
    unittest.main()
