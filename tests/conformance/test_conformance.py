"""Ours does in every recorded case what the real scheduler did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.conformance.reading import BadCorpus, Recorded, cases_in, spread_over
from tests.conformance.tally import SHOWN, Tally


def test_every_case_agrees(corpus_file: Path, tally: Tally, pytestconfig: pytest.Config) -> None:
    """No case of the file differs from what was recorded. Of those that come along and take long,
    it compares one of several; of another folder, all."""
    is_ours = pytestconfig.getoption("corpus", None) is None
    _compare(corpus_file, tally, spread_over if is_ours else list)


@pytest.mark.long
def test_every_single_case_agrees(corpus_file: Path, tally: Tally) -> None:
    """The same without leaving any out."""
    _compare(corpus_file, tally, list)


def _compare(
    file: Path, tally: Tally, chosen: Callable[[Iterable[Recorded]], list[Recorded]]
) -> None:
    try:
        cases = chosen(case for case in cases_in(file) if not case.shape.why_not)
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
