"""Count the words of a text file: python wordcount.py FILE"""
import sys


def count(text):
    return len(text.split(" "))


def main():
    if len(sys.argv) != 2:
        print("usage: wordcount.py FILE", file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as f:
        print(count(f.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
