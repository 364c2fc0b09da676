"""Ours does in every recorded case what the real scheduler did."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.reading import BadCorpus, cases_in
from conformance.tally import SHOWN, Tally


def test_every_case_agrees(corpus_file: Path, tally: Tally) -> None:
    """No case of the file differs from what was recorded."""
    try:
        cases = [case for case in cases_in(corpus_file) if not case.shape.why_not]
        differing = {case.name: found for case in cases if (found := case.differences())}
    except BadCorpus as error:
        pytest.fail(str(error), pytrace=False)
    for case in cases:
        tally.count(case.shape.tally, agrees=case.name not in differing)
    if differing:
        pytest.fail(told(differing, len(cases)), pytrace=False)
    if not cases:
        pytest.skip("nothing here is compared yet")


def told(differing: dict[str, list[str]], cases: int) -> str:
    """How many differ, and the first few of them in full."""
    lines = [f"{len(differing)} of {cases} cases differ:"]
    for name, found in list(differing.items())[:SHOWN]:
        lines += [name, *(f"  {text}" for text in found)]
    if len(differing) > SHOWN:
        lines.append(f"… and {len(differing) - SHOWN} more")
    return "\n".join(lines)
