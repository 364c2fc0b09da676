"""Verdict: it follows from the classes, their ends and what broke in them, within all limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.classes import AT_REST, RunClass
from testbed.checks.certificate.lines import CertificateRefused

LIMITS = ("turns_max", "instant_turns_max", "virtual_ms_max")
"""The limits of a Run in the header: of its turns, of those at one time, and of that time."""


def check_verdict(certificate: Certificate) -> None:
    """Refuse it if its verdict does not follow from its classes, or a limit was exceeded."""
    header = certificate.header
    claims = [name for name, _ in header["claims"]]
    for run in certificate.runs:
        where = f"class {run.number}"
        broken = [claim for claim, _ in run.broken]
        if len({*broken}) < len(broken) or not {*broken} <= {*claims}:
            raise CertificateRefused(f"{where}: it breaks what was not claimed, or twice")
        if run.end not in AT_REST:
            raise CertificateRefused(f"{where}: it was cut short, and shows no end: {run.end}")
        verdict = "violated" if broken else "held"
        if run.verdict != verdict:
            said = f"{where} is said to be {run.verdict!r}, and is {verdict!r}"
            raise CertificateRefused(f"{said}: {', '.join(broken) or 'nothing broke'}")
        _check_bounds(header, run, where)
    verdict = "violated" if any(run.broken for run in certificate.runs) else "held"
    if header["verdict"] != verdict:
        said = header["verdict"]
        raise CertificateRefused(f"its verdict is {said!r}; of its classes follows {verdict!r}")


def _check_bounds(header: Mapping[str, Any], run: RunClass, where: str) -> None:
    """No more turns, time and faults than there may be."""
    budget, faults_max = header["budget"], header["faults_max"]
    if faults_max > sum(times for _, times in header["allowed"]):
        raise CertificateRefused("more faults may strike than are allowed")
    turns_max, instant_max, ms_max = (budget.get(name) for name in LIMITS)
    if not all(type(limit) is int for limit in (turns_max, instant_max, ms_max)):
        raise CertificateRefused("the header names no limits")
    instant = max(Counter(step.at for step in run.steps).values(), default=0)
    is_late = any(step.at > ms_max for step in run.steps)
    if len(run.steps) > turns_max or instant > instant_max or is_late:
        raise CertificateRefused(f"{where}: it goes beyond a limit")
    is_full = len(run.steps) == turns_max or instant == instant_max
    if is_full and run.strikes < faults_max:
        raise CertificateRefused(f"{where}: at a limit no fault could strike")
    strikes = 0
    for offer, step in zip(run.offers, [*run.steps, None], strict=False):
        if strikes >= faults_max and offer.faults:
            raise CertificateRefused(f"{where}: more than {faults_max} faults could strike")
        strikes += step is not None and step.is_fault
