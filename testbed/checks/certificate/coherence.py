"""Coherence: no class contradicts itself or another."""

from __future__ import annotations

from typing import Any

from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.classes import NAMES_MODULO, RunClass, digest
from testbed.checks.certificate.lines import CertificateRefused


def check_coherence(certificate: Certificate) -> None:
    """Refuse it if a class contradicts itself or another."""
    offered: dict[Any, tuple[Any, int]] = {}
    pasts: dict[Any, Any] = {}
    forms: dict[int, int] = {}
    for run in certificate.runs:
        _check_end(certificate, run)
        _check_turns(certificate, run)
        _check_pasts(certificate, run, pasts)
        # After the same turns the same is offered, in the same order; and if only turns have
        # swapped places that may, the same in any order.
        same, alike = 0, 0
        for place, offer in enumerate(run.offers):
            for key, said in (((same,), offer), (alike, offer.at_any_place)):
                known, other = offered.setdefault(key, (said, run.number))
                if known != said:
                    raise CertificateRefused(_offered_else(certificate, run, place, other))
            if place < len(run.steps):
                same = digest([same, run.steps[place].core, *run.causes[place]])
                alike = (alike + run.names[place]) % NAMES_MODULO
        other = forms.setdefault(sum(run.names), run.number)
        if other != run.number:
            raise CertificateRefused(f"classes {other} and {run.number} are the same")


def _offered_else(certificate: Certificate, run: RunClass, place: int, other: int) -> str:
    at = "at its end"
    if place < len(run.steps):
        at = f"before {certificate.in_words(run.steps[place].option)!r}"
    where = f"class {run.number}, {at}"
    return f"{where}: offered else than in class {other} after the same"


def _check_end(certificate: Certificate, run: RunClass) -> None:
    """At rest nothing is left to be done."""
    where = f"class {run.number}"
    if len(run.offers) != len(run.steps) + 1:
        raise CertificateRefused(f"{where}: each turn needs one offer, and its end needs one")
    if run.offers[-1].ready:
        left = certificate.in_words(run.offers[-1].ready[0])
        raise CertificateRefused(f"{where}: it lacks its last turn: {left!r} is left")


def _check_turns(certificate: Certificate, run: RunClass) -> None:
    """Each turn was offered, at the time at which it was due."""
    now = 0
    for place, step in enumerate(run.steps):
        offer = run.offers[place]
        where = f"class {run.number}, turn {place + 1} ({certificate.in_words(step.option)})"
        all_offered, at = offer.ready + offer.faults, run.places[place]
        is_last = at >= len(offer.ready)
        if at >= len(all_offered) or all_offered[at] != step.option or (is_last != step.is_fault):
            raise CertificateRefused(f"{where}: it was not offered")
        now = now if step.is_fault else max(now, offer.due)
        if step.at != now:
            raise CertificateRefused(f"{where}: at {step.at} ms, where it was due at {now} ms")


def _check_pasts(certificate: Certificate, run: RunClass, pasts: dict[Any, Any]) -> None:
    """A turn with the same past has the same causes, and does the same up to where it picks
    otherwise."""
    for place, step in enumerate(run.steps):
        causes = sorted(run.names[cause] for cause in run.causes[place])
        key = (step.option, step.at, run.pasts[place])
        where = f"class {run.number}: {certificate.in_words(step.option)!r}"
        for k, (label, value, at, of) in enumerate(step.picks):
            asked = (*key, tuple(p[2] for p in step.picks[:k]), "asks")
            if pasts.setdefault(asked, (label, of)) != (label, of):
                raise CertificateRefused(f"{where} picks from other things than elsewhere")
            if pasts.setdefault((*asked, at), value) != value:
                raise CertificateRefused(f"{where} calls what it picks otherwise elsewhere")
        picked = (*key, tuple(p[2] for p in step.picks))
        if pasts.setdefault(picked, (step.core, causes)) != (step.core, causes):
            raise CertificateRefused(
                f"{where} touched other things than elsewhere after the same past"
            )
