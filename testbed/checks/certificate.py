"""Checks a certificate of completeness. It imports nothing of the testbed and trusts no search.

Two turns are in order if one caused the other, if one writes what the other touches, or if time
passed between them. All other turns may swap places: Runs that differ only so are one class, and
the certificate has one Run of each class.

1. Coherence: each turn was offered and follows its causes; the same turns lead to the same offer,
   and a turn with the same past touches the same; no class is there twice; no line was edited.
2. Coverage: wherever another Run could branch off, some class begins in just that way:
   a. two turns in order, of which the first did not cause the second, come the other way round;
   b. a turn that was ready and then withdrawn happens first;
   c. each fault that could strike does, also at the end; and wherever one struck, a class goes on
      without it through everything that does not follow from it;
   d. each alternative of a pick is taken.

Why that is enough: suppose a Run has no class here. Go along it as far as some class begins in the
same way. Its next turn was offered there, by coherence. In that class this turn comes later behind
another one, was withdrawn, is a fault or picks otherwise; and in each case coverage says that some
class begins so, one turn further. So there is no such Run.

Taken on trust are footprints, causes and offers; docs/search.md says what no file can prove.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = "testbed-certificate/1"
AT_REST = ("quiet", "stuck")


class CertificateRefused(Exception):
    """The certificate proves nothing; the text says where and why."""


@dataclass(frozen=True)
class SeenTurn:
    """A turn, as the file has it."""

    number: int
    option: int
    picks: tuple[Any, ...]
    at: int
    reads: frozenset[str]
    writes: frozenset[str]
    is_fault: bool

    def clashes(self, other: SeenTurn) -> bool:
        """Whether one writes what the other touches."""
        both = any(not key.startswith("log:") for key in self.writes & other.writes)
        return both or _meet(self.writes, other.reads) or _meet(self.reads, other.writes)


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    logs = [[f"{key}." for key in keys if key.startswith("log:")] for keys in (some, others)]
    pairs = ((one, other) for one in logs[0] for other in logs[1])
    meet = (a.startswith(b) or b.startswith(a) or "log:." in (a, b) for a, b in pairs)
    return bool(some & others) or any(meet)


@dataclass
class RunClass:
    """A class, as one Run of it. A turn is known by its place in that Run, from 0."""

    number: int
    end: str
    steps: list[SeenTurn]
    causes: list[list[int]]
    """For each turn, the places of its causes."""
    offers: list[int]
    """For each turn, the offer it was chosen from; at the end perhaps one more."""
    before: list[int] = field(default_factory=list)
    """For each turn, the turns that are in order before it, as bits."""
    levels: list[int] = field(default_factory=list)
    """For each turn, the length of the longest chain of turns in order that ends with it."""
    races: list[tuple[int, int]] = field(default_factory=list)
    """Turns in order, one right before the other, that could come the other way round."""

    def relate(self) -> None:
        """Work out which turns are in order, and the races."""
        for second, step in enumerate(self.steps):
            before = level = 0
            # Latest first: what comes before a turn that comes before this one is in order already,
            # and to reverse it is not one race but several.
            for first in reversed(range(second)):
                if before >> first & 1:
                    continue
                other = self.steps[first]
                is_fixed = first in self.causes[second] or other.at < step.at
                if is_fixed or other.clashes(step):
                    before |= self.before[first] | 1 << first
                    level = max(level, self.levels[first])
                    # A fault that strikes later instead is `_need_faults`, one that never strikes
                    # `_need_spared`.
                    if not is_fixed and not other.is_fault:
                        self.races.append((first, second))
            self.before.append(before)
            self.levels.append(level + 1)


class Certificate:
    """A certificate that was read; its checks refuse it if it proves nothing."""

    def __init__(self, path: str) -> None:
        self.options: dict[int, list[Any]] = {}
        self.steps: dict[int, SeenTurn] = {}
        self.offers: dict[int, tuple[list[int], list[int], int]] = {}
        """By number: the options that were ready, the faults that could strike, the time due."""
        self.runs: list[RunClass] = []
        self.tried = 0
        """How many ways to branch off were looked for."""
        lines = list(_lines(path))
        if not lines or lines[0].get("format") != FORMAT:
            raise CertificateRefused(f"line 1: expected a header with format {FORMAT!r}")
        self.header = lines[0]
        for line in lines[1:]:
            self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        if "is" in line:
            self.options[line["option"]] = line["is"]
        elif "step" in line:
            number, option, picks = line["step"], line["option"], tuple(map(tuple, line["picks"]))
            reads, writes = frozenset(line["reads"]), frozenset(line["writes"])
            is_fault = self.options[option][0] == "fault"
            self.steps[number] = SeenTurn(
                number, option, picks, line["at"], reads, writes, is_fault
            )
        elif "offer" in line:
            self.offers[line["offer"]] = (line["ready"], line["faults"], line["due"])
        else:
            steps = [self.steps[number] for number, _ in line["run"]]
            causes = [causes for _, causes in line["run"]]
            run = RunClass(line["class"], line["end"], steps, causes, line["offers"])
            if len(run.offers) - len(steps) not in (0, 1) or {*run.offers} - {*self.offers}:
                raise ValueError("each turn needs one offer, and the end may have one")
            run.relate()
            self.runs.append(run)

    def in_words(self, option: int) -> str:
        """An option in words."""
        *words, nth = self.options[option]
        return " ".join(word for word in words if word) + (f"#{nth}" if nth > 1 else "")

    # -- coherence ------------------------------------------------------------------------------

    def check_coherence(self) -> None:
        """Refuse it if a class contradicts itself or another."""
        if self.header["classes"] != len(self.runs) or not self.runs:
            raise CertificateRefused(
                f"the header speaks of {self.header['classes']}, not {len(self.runs)}"
            )
        offered, pasts, forms = (
            dict[Any, tuple[int, int]](),
            dict[Any, SeenTurn](),
            dict[Any, int](),
        )
        for run in self.runs:
            prefix: Any = None
            self._check_turns(run)
            self._check_pasts(run, self._check_form(run, forms), pasts)
            for step, offer, causes in zip(run.steps, run.offers, run.causes, strict=False):
                first, other = offered.setdefault(prefix, (offer, run.number))
                if first != offer:
                    where = f"class {run.number}, before {self.in_words(step.option)!r}"
                    raise CertificateRefused(
                        f"{where}: offered else than in class {other} after the same"
                    )
                prefix = (prefix, step.number, *causes)

    def _check_turns(self, run: RunClass) -> None:
        """Each turn was offered, was due, and follows its causes."""
        for place, step in enumerate(run.steps):
            ready, faults, due = self.offers[run.offers[place]]
            where = f"class {run.number}, turn {place + 1} ({self.in_words(step.option)})"
            if step.option not in (faults if step.is_fault else ready):
                raise CertificateRefused(f"{where}: it was not offered")
            if not step.is_fault and step.at < due:
                raise CertificateRefused(f"{where}: at {step.at} ms, before it was due at {due} ms")
            if any(not 0 <= cause < place for cause in run.causes[place]):
                raise CertificateRefused(f"{where}: it comes before what caused it")

    def _check_form(self, run: RunClass, forms: dict[Any, int]) -> list[int]:
        """No other class is the same. Returns the places of the turns in normal form."""
        # The normal form sorts turns by their level, and those of one level, which may all swap
        # places, by their option. So two Runs of one class have the same form.
        key = [(run.levels[k], self.options[s.option]) for k, s in enumerate(run.steps)]
        order = sorted(range(len(key)), key=key.__getitem__)
        at = {place: now_at for now_at, place in enumerate(order)}
        form = [(run.steps[k].number, *sorted(at[c] for c in run.causes[k])) for k in order]
        other = forms.setdefault(tuple(form), run.number)
        if other != run.number:
            raise CertificateRefused(f"classes {other} and {run.number} are the same")
        return order

    def _check_pasts(self, run: RunClass, order: list[int], pasts: dict[Any, SeenTurn]) -> None:
        """A turn with the same past touches the same in every class."""
        for place, step in enumerate(run.steps):
            past = [run.steps[k].number for k in order if run.before[place] >> k & 1]
            key = (step.option, step.picks, step.at, *past)
            if pasts.setdefault(key, step) != step:
                where = f"class {run.number}: {self.in_words(step.option)!r}"
                raise CertificateRefused(
                    f"{where} touched other things than elsewhere after the same past"
                )

    # -- coverage -------------------------------------------------------------------------------

    def check_coverage(self) -> None:
        """Refuse it if a Run could branch off to where no class is."""
        done: set[Any] = set()
        for run in self.runs:
            prefix: Any = None
            for place, step in enumerate(run.steps):
                # Classes that begin with the same turns branch off from them in the same ways.
                prefix = (prefix, step.number, *run.causes[place])
                if prefix not in done:
                    done.add(prefix)
                    self._need_races(run, place)
                    self._need_picks(run, place)
                    self._need_faults(run, place)
                    self._need_withdrawn(run, place)
                self._need_spared(run, place)
                # If the Run was cut short, what was ready may never have had its turn in it.
                for option in self.offers[run.offers[place]][0] if run.end not in AT_REST else ():
                    self._need(run, range(place), (option, ()), "may come next")
            if len(run.offers) > len(run.steps):
                self._need_faults(run, len(run.steps))

    def _why_it_could(self, run: RunClass, place: int) -> int:
        """The turns without which a fault could not strike, as bits. A fault tells no causes: the
        turn after which it was first offered made it possible."""
        if not run.steps[place].is_fault:
            return 0
        since = place
        while since and run.steps[place].option in self.offers[run.offers[since - 1]][1]:
            since -= 1
        return run.before[since - 1] | 1 << since - 1 if since else 0

    def _need_races(self, run: RunClass, second: int) -> None:
        """2a: the turn comes before each one that it races with, after the turns before that one
        and those between the two that do not follow from it."""
        due_to, last = self._why_it_could(run, second), (run.steps[second].option, ())
        for first in (one for one, other in run.races if other == second and not due_to >> one & 1):
            rest = [k for k in range(first + 1, second) if not run.before[k] >> first & 1]
            why = f"may come before {self.in_words(run.steps[first].option)!r}"
            self._need(run, [*range(first), *rest], last, why)

    def _need_picks(self, run: RunClass, place: int) -> None:
        """2d: the same turn picks each other alternative, after the same picks."""
        step = run.steps[place]
        for k, (label, _, at, of) in enumerate(step.picks):
            for other in (other for other in range(of) if other != at):
                last = (step.option, (*step.picks[:k], (label, None, other, of)))
                why = f"may pick alternative {other + 1} of {of} for {label!r}"
                self._need(run, range(place), last, why)

    def _need_faults(self, run: RunClass, place: int) -> None:
        """2c: each fault that could strike here does."""
        is_spent = sum(s.is_fault for s in run.steps[:place]) >= self.header["faults_max"]
        for fault in () if is_spent else self.offers[run.offers[place]][1]:
            self._need(run, range(place), (fault, ()), "may strike")

    def _need_spared(self, run: RunClass, fault: int) -> None:
        """2c: a class goes on without this fault, through all that does not follow from it."""
        # Only classes with no other fault than those: else one in which it strikes later would do.
        rest = [k for k, b in enumerate(run.before) if k != fault and not b >> fault & 1]
        struck = sum(run.steps[k].is_fault for k in rest)
        spared = (r for r in self.runs if sum(step.is_fault for step in r.steps) == struck)
        if run.steps[fault].is_fault and not any(_begins(r, run, rest, None) for r in spared):
            where = f"class {run.number}: {self.in_words(run.steps[fault].option)!r}"
            raise CertificateRefused(
                f"{where} need not happen at turn {fault + 1}, and no class goes on without a fault"
            )

    def _need_withdrawn(self, run: RunClass, place: int) -> None:
        """2b: what was ready here, and is not after this turn, happens in its place."""
        step, is_last = run.steps[place], place + 1 == len(run.steps)
        ready, _, due = self.offers[run.offers[place]]
        if step.is_fault or due > step.at or (is_last and run.end not in AT_REST):
            return
        later = [] if is_last else self.offers[run.offers[place + 1]][0]
        for option in (o for o in ready if o != step.option and o not in later):
            self._need(
                run, range(place), (option, ()), f"was ready at {self.in_words(step.option)!r}"
            )

    def _need(self, run: RunClass, places: Sequence[int], last: tuple[int, Any], why: str) -> None:
        """Refuse it unless some class begins with the turns at these places, then does `last`."""
        self.tried += 1
        if not any(_begins(other, run, places, last) for other in self.runs):
            before = run.steps[places[-1]].option if places else None
            after = "at first" if before is None else f"after {self.in_words(before)!r}"
            where = f"class {run.number}: {self.in_words(last[0])!r} {why}, {after}"
            raise CertificateRefused(f"{where}, and no class begins so")


def _begins(
    other: RunClass, run: RunClass, places: Sequence[int], last: tuple[int, Any] | None
) -> bool:
    """Whether class `other` can begin with these turns of `run` in this order, then with `last`: an
    option and its picks. Turns that are not in order may have swapped places."""
    # It can, if it has each of them, with the same causes, and each is preceded only by turns that
    # were taken before: `before` says which turns of `other` must come first.
    taken, at = 0, dict[int, int]()
    for place in places:
        number, causes = run.steps[place].number, {at.get(c) for c in run.causes[place]}
        found = (k for k, step in enumerate(other.steps) if step.number == number)
        k = next((k for k in found if not taken >> k & 1 and {*other.causes[k]} == causes), None)
        if k is None or other.before[k] & ~taken:
            return False
        at[place], taken = k, taken | 1 << k
    if last is None:
        return True
    found = (k for k, step in enumerate(other.steps) if step.option == last[0])
    for k in (k for k in found if not taken >> k & 1 and not other.before[k] & ~taken):
        return [p[2] for p in other.steps[k].picks[: len(last[1])]] == [p[2] for p in last[1]]
    return False


def _lines(path: str) -> Iterator[dict[str, Any]]:
    """The lines of the file. Each ends in a checksum over itself and all lines before it."""
    total = 0
    for number, line in enumerate(Path(path).read_bytes().splitlines(keepends=True), 1):
        body, mark, rest = line.rpartition(b',"sum":"')
        total = zlib.crc32(body + b"}", total)
        if not mark or rest != b'%08x"}\n' % total:
            raise CertificateRefused(
                f"line {number}: it was edited or cut, or one before it is missing"
            )
        yield json.loads(line)


def main(path: str) -> int:
    """Print what the certificate at that path proves, or why it proves nothing; returns 0 or 1."""
    try:
        certificate = Certificate(path)
        certificate.check_coherence()
        certificate.check_coverage()
    except (CertificateRefused, OSError, KeyError, TypeError, ValueError, IndexError) as refused:
        sys.stdout.write(f"{path}: refused: {refused}.\nNext: search again, and certify that.\n")
        return 1
    found = f"{len(certificate.runs):,} classes of {certificate.header['scenario']}"
    tried = f"{certificate.tried:,} ways to branch off were tried"
    sys.stdout.write(f"{path}: {found}: coherent and closed; {tried}.\n")
    return 0


if __name__ == "__main__":
    usage = "Next: python -m testbed.checks.certificate FILE"
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else usage)
