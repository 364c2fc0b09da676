"""How the commands show a Verdict: exit code, JSON, and the command to paste."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from testbed import policy
from testbed.cli.output import say
from testbed.objects.codec import encode_line
from testbed.turns.verdict import Verdict

JSON = "Print the result as one JSON object."
FAULTS = "Also allow faults, as in crash,restart=2s or 2*lag; `none` allows none. Repeatable."
SWITCH = "Set a switch, such as guard=on. Repeatable."
SCENARIO_PATH = "Folder of a scenario that is named by its module, as in mine:race."
"""Options of most commands, as their --help explains them."""
CODES = {"held": 0, "violated": 1, "undecided": 3}
EXIT_CODES = (
    "Exit codes: 0 held, 1 violated, 2 usage, 3 undecided, 4 our bug or nondeterminism, "
    "130 interrupted."
)
"""The last line of every command's --help."""


def exit_code(verdict: Verdict) -> int:
    """The exit code for a Verdict: 0 held, 1 violated, 3 undecided."""
    return CODES[verdict.outcome]


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of as many cells as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return ["  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in padded]


def say_table(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Print rows of as many cells in columns."""
    for line in in_columns(rows):
        say(f"{indent}{line}".rstrip())


def say_json(content: dict[str, Any]) -> None:
    """Print one JSON object, on one line."""
    say(encode_line(content).decode())


def as_dict(verdict: Verdict, **more: Any) -> dict[str, Any]:
    """A Verdict as `--json` shows it."""
    return {
        "verdict": verdict.outcome,
        "end": verdict.end,
        "violations": [
            {
                "invariant": v.invariant,
                "said": v.said,
                "reason": v.reason,
                "about": v.about.as_dict(),
                **({} if v.since is None else {"since_rv": v.since}),
                "step": v.step,
                "at_ms": v.now_ms,
            }
            for v in verdict.violations
        ],
        "turns": verdict.turns,
        "virtual_ms": verdict.virtual_ms,
        "faults": verdict.faults,
        "chooser": verdict.chooser,
        "note": verdict.note,
        **({"nothing_tried": verdict.nothing} if verdict.nothing else {}),
        **({"waiting": list(verdict.waiting)} if verdict.waiting else {}),
        **({"attended": list(verdict.attended)} if verdict.attended else {}),
        **({} if verdict.until_ms is None else {"until_ms": verdict.until_ms}),
        **more,
    }


def command_line(
    named: Sequence[str],
    switches: Mapping[str, Any],
    chooser: str,
    seed: int | None,
    driver: str = "trio",
    *,
    audit: bool = False,
    faults: Sequence[str] = (),
) -> str:
    """The command to paste that plays this Run again; the words name its scenario."""
    words = ["testbed", "run", *named]
    for name, value in switches.items():
        words += ["--switch", f"{name}={value}"]
    words += [word for fault in faults for word in ("--faults", fault)]
    if seed is not None:
        words += ["--seed", str(seed)]
    if chooser != ("calm" if seed is None else "uniform"):
        words += ["--chooser", chooser]
    words += policy.words()
    return shlex.join(words + carried(driver, audit))


def carried(driver: str, audit: bool) -> list[str]:
    """The options `--driver` and `--audit`, if they are not at their defaults."""
    return (["--driver", driver] if driver != "trio" else []) + (["--audit"] if audit else [])
