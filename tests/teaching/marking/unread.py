"""Unread: a sitting in which the text of an answer is not looked at, and it is lent all of Python.

So a hostile answer comes as far as the guards, which are for those who find a way around the text.
"""

from __future__ import annotations

from testbed.teaching import answer
from testbed.teaching.marking import sitting


def main() -> None:
    """Check the answer that standard input names, whatever stands in it."""
    vars(answer).update(complaint_about=lambda *_: None, run_file=lambda _: None)
    sitting.main()


if __name__ == "__main__":
    main()
