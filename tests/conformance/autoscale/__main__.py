"""Prints where ours differs in recorded cases whose names fit a glob:
`.venv/bin/python -m tests.conformance.autoscale 'h-sd-*'`."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from tests.conformance.autoscale.shape import Autoscale

CASES = Path(__file__).parent.parent / "corpus" / "autoscale.jsonl.gz"
SHOWN = 12


def main(pattern: str) -> None:
    """Each case that differs, with the first differences; and how many agree, by kind."""
    agree: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for line in map(json.loads, gzip.decompress(CASES.read_bytes()).splitlines()):
        if not fnmatchcase(line["id"], pattern) and line["kind"] != pattern:
            continue
        cases[line["kind"]] += 1
        found = Autoscale().differences(line)
        agree[line["kind"]] += not found
        if found:
            sys.stdout.write("\n  ".join([line["id"], *found[:SHOWN]]) + "\n")
    for kind, count in sorted(cases.items()):
        sys.stdout.write(f"{kind}: {agree[kind]} of {count} agree\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "*")
