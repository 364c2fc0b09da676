"""Coverage: wherever another Run could branch off, some class begins in just that way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from testbed.checks.certificate.certificate import Certificate
from testbed.checks.certificate.classes import NAMES_MODULO, Index, RunClass, digest
from testbed.checks.certificate.lines import CertificateRefused


def check_coverage(certificate: Certificate) -> int:
    """Refuse it if a Run could branch off to where no class is; return how many ways to branch off
    were tried."""
    coverage = _Coverage(certificate)
    coverage.check()
    return coverage.tried


class _Coverage:
    """Looks for a class that begins in some way."""

    def __init__(self, certificate: Certificate) -> None:
        self.tried = 0
        self._runs = certificate.runs
        self._in_words = certificate.in_words
        self._having: dict[int, int] = {}
        """For each turn, the classes that have it, as bits."""
        self._index = Index()
        self._found: set[Any] = set()
        """The beginnings for which a class was found."""
        for place, run in enumerate(self._runs):
            for core in run.places_of:
                self._having[core] = self._having.get(core, 0) | 1 << place
            self._index.add(run, 1 << place)

    def check(self) -> None:
        """Try each way to branch off from each class."""
        done: set[int] = set()
        for run in self._runs:
            so_far = 0
            for place, name in enumerate(run.names):
                # Classes that begin with the same turns branch off from them in the same ways.
                so_far = digest([so_far, name])
                if so_far not in done:
                    done.add(so_far)
                    self._need_races(run, place)
                    self._need_picks(run, place)
                    self._need_faults(run, place)
                    self._need_others(run, place)
                self._need_spared(run, place)
            self._need_faults(run, len(run.steps))

    def _why_it_could(self, run: RunClass, place: int) -> int:
        """The turns without which a fault could not strike, as bits. A fault tells no causes: the
        turn after which it was first offered made it possible."""
        if not run.steps[place].is_fault:
            return 0
        since = place
        while since and run.steps[place].option in run.offers[since - 1].faults:
            since -= 1
        return run.before[since - 1] | 1 << since - 1 if since else 0

    def _need_races(self, run: RunClass, second: int) -> None:
        """4a: the turn comes before each one that it races with, after the turns before that one
        and those between the two that do not follow from it."""
        due_to, last = self._why_it_could(run, second), (run.steps[second].option, ())
        for first in (one for one in run.races[second] if not due_to >> one & 1):
            rest = [k for k in range(first + 1, second) if not run.before[k] >> first & 1]
            why = f"may come before {self._in_words(run.steps[first].option)!r}"
            self._need(run, [*range(first), *rest], last, why)

    def _need_picks(self, run: RunClass, place: int) -> None:
        """4d: the same turn picks each other alternative, after the same picks."""
        step = run.steps[place]
        for k, (label, _, at, of) in enumerate(step.picks):
            for other in (other for other in range(of) if other != at):
                last = (step.option, (*step.picks[:k], (label, None, other, of)))
                why = f"may pick alternative {other + 1} of {of} for {label!r}"
                self._need(run, range(place), last, why)

    def _need_faults(self, run: RunClass, place: int) -> None:
        """4c: each fault that could strike here does."""
        for fault in run.offers[place].faults:
            self._need(run, range(place), (fault, ()), "may strike")

    def _need_spared(self, run: RunClass, fault: int) -> None:
        """4c: a class goes on without this fault, through all that does not follow from it."""
        if not run.steps[fault].is_fault:
            return
        # Only classes with no other fault than those: else one in which it strikes later would do.
        rest = [k for k, b in enumerate(run.before) if k != fault and not b >> fault & 1]
        struck = sum(run.steps[k].is_fault for k in rest)
        if self._index.has(run, rest, struck):
            return
        spared = (r for r in self._with(run, rest) if r.begins(run, rest) is not None)
        if not any(r.strikes == struck for r in spared):
            where = f"class {run.number}: {self._in_words(run.steps[fault].option)!r}"
            raise CertificateRefused(
                f"{where} need not happen at turn {fault + 1}, and no class goes on without a fault"
            )

    def _need_others(self, run: RunClass, place: int) -> None:
        """4b: whatever else was ready here happens in its place. What is ready next may bear the
        same words and not be the same."""
        step, offer = run.steps[place], run.offers[place]
        for option in (o for o in offer.ready if o != step.option):
            why = f"was ready at {self._in_words(step.option)!r}"
            self._need(run, range(place), (option, ()), why)

    def _need(self, run: RunClass, places: Sequence[int], last: tuple[int, Any], why: str) -> None:
        """Refuse it unless some class begins with the turns at these places, then does `last`."""
        self.tried += 1
        option, picks = last
        names = sum(run.names[place] for place in places) % NAMES_MODULO
        beginning = (names, option, tuple(p[2] for p in picks))
        if beginning in self._found:
            return
        found = self._with(run, places)
        if not self._index.goes_on(run, places, option, picks) and not any(
            each.goes_on(run, places, option, picks) for each in found
        ):
            before = run.steps[places[-1]].option if places else None
            after = "at first" if before is None else f"after {self._in_words(before)!r}"
            where = f"class {run.number}: {self._in_words(option)!r} {why}, {after}"
            raise CertificateRefused(f"{where}, and no class begins so")
        self._found.add(beginning)

    def _with(self, run: RunClass, places: Iterable[int]) -> Iterable[RunClass]:
        """The classes that have all of these turns."""
        left = (1 << len(self._runs)) - 1
        for place in places:
            left &= self._having[run.steps[place].core]
        while left:
            yield self._runs[(left & -left).bit_length() - 1]
            left &= left - 1
