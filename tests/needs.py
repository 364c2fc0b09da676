"""Needs: programs that a test asks for, and that a bare machine lacks.

A test that begins with `needs("etcd")` is skipped where there is no etcd. pytest then ends with one
section that says how many tests were left out, and the one line that installs what they need. With
`TESTBED_ALL=1` a missing program is a failure, so that nothing is left out unseen.

What a kernel or a system may lack is left out in the same way: a skip whose reason begins with
`needs NAME:` is counted.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter

import attrs
import pytest

ALL = "TESTBED_ALL"
_REASON = re.compile(r"(?:Skipped: )?needs ([^:]+): ")


@attrs.frozen
class Program:
    """A program that is not ours, and Debian's package that has it."""

    package: str
    commands: tuple[str, ...]
    named_by: str = ""
    """The environment variable that may name another one."""

    @property
    def path(self) -> str | None:
        """Where it is; None if it is missing."""
        named = os.environ.get(self.named_by) if self.named_by else None
        return named or next(filter(None, map(shutil.which, self.commands)), None)


PROGRAMS = {
    "etcd": Program("etcd-server", ("etcd",)),
    "chromium": Program("chromium", ("chromium", "google-chrome")),
    "kubectl": Program("kubernetes-client", ("kubectl",), named_by="KUBECTL"),
}


def needs(name: str) -> str:
    """Return the path of that program. Without it, skip the test, or fail it under TESTBED_ALL."""
    program = PROGRAMS[name]
    if program.path is not None:
        return program.path
    reason = f"needs {name}: apt-get install {program.package}"
    if os.environ.get(ALL) == "1":
        pytest.fail(f"{reason}\nTo do without: unset {ALL}", pytrace=False)
    pytest.skip(reason)


class LeftOut:
    """A plugin that ends pytest with what was left out, and how to get it."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the section, if any test was left out for what it needs."""
        reports = terminalreporter.getreports("skipped")
        reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
        found = (_REASON.match(reason) for reason in reasons)
        missing = Counter(match[1] for match in found if match is not None)
        if missing:
            terminalreporter.section("left out")
            terminalreporter.write_line(told(missing))


def told(missing: Counter[str]) -> str:
    """Say how many tests each missing thing has left out, and the line that installs them all."""
    count = missing.total()
    each = ", ".join(f"{name} {number}" for name, number in sorted(missing.items()))
    packages = [PROGRAMS[name].package for name in sorted(missing) if name in PROGRAMS]
    install = f"; apt-get install {' '.join(packages)}" if packages else ""
    return f"left out: {count} {'test' if count == 1 else 'tests'} ({each}){install}"
