"""家計簿を集計します: python kakeibo.py [--json] [--month YYYY-MM] FILE"""
import argparse
import collections
import csv
import json
import sys


class Problem(Exception):
    """利用者に伝える問題。"""


def amount(text):
    return int(text)


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = csv.DictReader(f)
        missing = {"日付", "分類", "金額"} - set(rows.fieldnames or [])
        if missing:
            raise Problem("列がありません: " + "、".join(sorted(missing)))
        for row in rows:
            try:
                yield row["日付"][:7], row["分類"], amount(row["金額"])
            except (TypeError, ValueError):
                raise Problem(f"{rows.line_num} 行目の金額を読めません: {row['金額']}") from None


def totals(entries, month):
    table = collections.defaultdict(lambda: collections.defaultdict(int))
    for when, kind, value in entries:
        if month in (None, when):
            table[when][kind] += value
    return {when: dict(sorted(kinds.items())) for when, kinds in sorted(table.items())}


def main(argv):
    parser = argparse.ArgumentParser(prog="kakeibo.py")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--month")
    parser.add_argument("file")
    args = parser.parse_args(argv)
    try:
        table = totals(read(args.file), args.month)
    except (OSError, Problem) as problem:
        print(problem, file=sys.stderr)
        return 1
    if args.json:
        json.dump(table, sys.stdout, ensure_ascii=False)
        print()
        return 0
    for when, kinds in table.items():
        print(when)
        for kind, value in kinds.items():
            print(f"  {kind}: {value}円")
        print(f"  合計: {sum(kinds.values())}円")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
