"""Verdict: a class that goes beyond a limit, or was stopped by one, is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.classes import Offered, RunClass, SeenTurn
from testbed.checks.certificate.lines import CertificateRefused
from testbed.checks.certificate.verdict import check_verdict

LIMITS = {"turns_max": 9, "instant_turns_max": 9, "virtual_ms_max": 90}


def a_certificate(*, faults_max: int = 0, struck: int = 0, **limits: Any) -> Certificate:
    """One class, with a turn at 0 ms, three at 10 ms and one at 20 ms; that many are faults."""
    none: frozenset[str] = frozenset()
    steps = [
        SeenTurn(n, n, n, (), at, none, none, is_fault=n < struck)
        for n, at in enumerate((0, 10, 10, 10, 20))
    ]
    offers = [Offered((0,), (), 0)] * 6
    run = RunClass(1, "held", "quiet", [], steps, [0] * 5, [[]] * 5, offers)
    header = {
        "claims": [], "verdict": "held", "faults_max": faults_max, "allowed": [["crash", 1]],
        "budget": {**LIMITS, **limits},
    }  # fmt: skip
    return cast(Certificate, SimpleNamespace(header=header, runs=[run]))


REACHED = [("turns_max", 5), ("instant_turns_max", 3), ("virtual_ms_max", 20)]


@pytest.mark.parametrize(("name", "most"), REACHED)
def test_no_class_goes_beyond_a_limit(name: str, most: int) -> None:
    """Of all turns, of those at one time, or of time; up to it a class may go."""
    check_verdict(a_certificate())
    check_verdict(a_certificate(**{name: most}))
    with pytest.raises(CertificateRefused, match="class 1: it goes beyond a limit"):
        check_verdict(a_certificate(**{name: most - 1}))


@pytest.mark.parametrize(("name", "most"), REACHED[:2])
def test_a_limit_of_turns_leaves_no_room_for_a_fault(name: str, most: int) -> None:
    """Where a class has reached it, a fault that may still strike could not."""
    check_verdict(a_certificate(faults_max=1, **{name: most + 1}))
    check_verdict(a_certificate(faults_max=1, struck=1, **{name: most}))
    with pytest.raises(CertificateRefused, match="class 1: at a limit no fault could strike"):
        check_verdict(a_certificate(faults_max=1, **{name: most}))


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_is_told(name: str) -> None:
    """As a whole number."""
    told: list[Any] = [None, True, "9"]
    for limit in told:
        with pytest.raises(CertificateRefused, match="the header names no limits"):
            check_verdict(a_certificate(**{name: limit}))
