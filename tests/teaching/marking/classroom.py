"""Classroom: right answers as files that students would hand in, a class of sixty, and figures.

`python -m tests.teaching.marking.classroom` marks each right answer to each level and
prints how much it takes: the figures of docs/grading.md.
"""

from __future__ import annotations

import ast
import resource
import sys
from pathlib import Path

from testbed.cli.output import say
from testbed.cli.show import say_table
from testbed.teaching.ladder import levels
from testbed.teaching.level import LearnLevel
from testbed.teaching.marking.booth import Booth
from testbed.teaching.marking.limits import BoothLimits
from tests.teaching.marking.hostile import HOSTILE
from tests.teaching.marking.keepers import KEEPERS

RIGHT = Path(__file__).parents[1] / "right"
ELSEWHERE = ("actors", "testbed.turns", "testbed.objects.meta")
"""Where the right answers import from what their level hands on, or what only tells a type."""


def right_names(level: LearnLevel) -> list[str]:
    """The names of the right answers to that level."""
    tree = ast.parse((RIGHT / f"{level.name}.py").read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [each.name for each in classes if _is_answer(each, level)]


def _is_answer(node: ast.stmt, level: LearnLevel) -> bool:
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    return any(isinstance(base, ast.Name) and base.id == level.base.__name__ for base in bases)


def right_text(level: LearnLevel, name: str) -> str:
    """The file of one right answer: without the others, and with imports that a student may have.
    Types are not looked at when it runs, so what only tells one needs no import."""
    tree = ast.parse((RIGHT / f"{level.name}.py").read_text(encoding="utf-8"))
    handed_on = vars(sys.modules[level.build.__module__])
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(ELSEWHERE):
            node.names = [each for each in node.names if each.name in handed_on]
            node.module = level.build.__module__
            body += [node] if node.names else []
        elif not _is_answer(node, level) or getattr(node, "name", "") == name:
            body.append(node)
    tree.body = body
    return ast.unparse(tree)


def sixty() -> dict[str, tuple[int, str]]:
    """Sixty answers by student, each with its level: right ones, what is handed out, and those that
    mean no good, among them all that come near to a limit."""
    found = {
        f"right-{name}": (level.number, right_text(level, name))
        for level in levels()
        for name in right_names(level)
    }
    found |= {f"starter-{level.number}": (level.number, level.starter()) for level in levels()}
    odd = ("eats_memory", "loops", "loops_on", "loops_in_c", "sleeps", "prints", "leaves")
    found |= {f"odd-{name}": (1, HOSTILE[name].text()) for name in odd}
    found |= {f"keeper-{n}": (1, each.text) for n, each in enumerate(KEEPERS.values())}
    return dict([*found.items()][:60])


def main() -> None:
    """Print what each right answer takes, and the most of all against the limits."""
    rows, most_s = [["level", "answer", "mark", "runs", "CPU s"]], 0.0
    limits = BoothLimits()
    for level in levels():
        for name in right_names(level):
            before = _spent_s()
            told = Booth(limits).mark(level.number, right_text(level, name).encode(), 0)
            spent_s = _spent_s() - before
            most_s = max(most_s, spent_s)
            row = [str(level.number), name, told["mark"], str(told["runs"]), f"{spent_s:.1f}"]
            rows.append(row)
    say_table(rows)
    allowed = f"{limits.seconds} s are allowed for each trial"
    say(f"\nmost: {most_s:.1f} s for a whole check; {allowed}")


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
