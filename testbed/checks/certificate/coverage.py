"""Coverage: the certificate as a whole, and what its classes must be to leave no Run out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from testbed.checks.certificate.classes import (
    AT_REST,
    Clashes,
    Index,
    Offered,
    RunClass,
    SeenTurn,
    digest,
)
from testbed.checks.certificate.lines import CertificateRefused, Unreadable, read

NAMES_MODULO = 2**128


class Certificate:
    """A certificate that was read; its checks refuse it if it proves nothing."""

    def __init__(self, path: str) -> None:
        self.header: dict[str, Any] = {}
        self.options: list[tuple[Any, ...]] = []
        self.steps: list[SeenTurn] = []
        self.lates: list[tuple[frozenset[str], frozenset[str]]] = []
        """Of what each step touched, what was known only later."""
        self.offers: list[Offered] = []
        self.runs: list[RunClass] = []
        self.tried = 0
        """How many ways to branch off were looked for."""
        self._named: set[tuple[str, int]] = set()
        """The lines that a later line names, each by its kind and number."""
        self._cores: dict[Any, int] = {}
        """A number for each turn as far as it was known when it ended."""
        self._clashes = Clashes()
        self._having: dict[int, int] = {}
        """For each turn, the classes that have it, as bits."""
        self._index = Index()
        self._found: set[Any] = set()
        """The beginnings for which a class was found."""
        takers: dict[str, Callable[[dict[str, Any]], None]] = {
            "format": self.header.update,
            "is": self._take_option,
            "step": self._take_step,
            "offer": self._take_offer,
            "class": self._take_class,
        }
        for kind, line in read(path):
            takers[kind](line)
        self._check_tables()

    # -- the lines --------------------------------------------------------------------------------

    def _take_option(self, line: dict[str, Any]) -> None:
        _in_line("option", line["option"], self.options)
        self.options.append(tuple(line["is"]))

    def _take_step(self, line: dict[str, Any]) -> None:
        _in_line("step", line["step"], self.steps)
        reads, writes, (late_reads, late_writes) = line["reads"], line["writes"], line["late"]
        if any(keys != sorted({*keys}) for keys in (reads, writes, late_reads, late_writes)) or (
            {*reads} & {*late_reads} or {*writes} & {*late_writes}
        ):
            raise Unreadable(f"step {line['step']}: what it touches is not in order")
        if any(at >= of for _, _, at, of in line["picks"]):
            raise Unreadable(f"step {line['step']}: it picks what there is not")
        (option,) = self._of("option", [line["option"]], self.options)
        picks = tuple(map(tuple, line["picks"]))
        known = (line["option"], picks, line["at"], frozenset(reads), frozenset(writes))
        core = self._cores.setdefault(known, len(self._cores))
        touched = (frozenset([*reads, *late_reads]), frozenset([*writes, *late_writes]))
        self.lates.append((frozenset(late_reads), frozenset(late_writes)))
        how = (core, *known[:3], *touched, option[0] == "fault")
        self.steps.append(SeenTurn(line["step"], *how))

    def _take_offer(self, line: dict[str, Any]) -> None:
        _in_line("offer", line["offer"], self.offers)
        self._of("option", [*line["ready"], *line["faults"]], self.options)
        self.offers.append(Offered(tuple(line["ready"]), tuple(line["faults"]), line["due"]))

    def _take_class(self, line: dict[str, Any]) -> None:
        _in_line("class", line["class"], self.runs)
        steps = self._of("step", [number for number, _, _ in line["run"]], self.steps)
        offers = self._of("offer", line["offers"], self.offers)
        places, causes = [one[1] for one in line["run"]], [one[2] for one in line["run"]]
        how = (line["verdict"], line["end"], line["broken"])
        run = RunClass(line["class"], *how, steps, places, causes, offers)
        if any(k >= place for place, found in enumerate(causes) for k in found):
            raise CertificateRefused(f"class {run.number}: a turn comes before what caused it")
        run.relate(self._clashes)
        for core in run.places_of:
            self._having[core] = self._having.get(core, 0) | 1 << len(self.runs)
        self._index.add(run, 1 << len(self.runs))
        self.runs.append(run)

    def _of(self, kind: str, numbers: Sequence[int], table: Sequence[Any]) -> list[Any]:
        """The lines of these numbers, which stand before the one that names them."""
        if any(not 0 < number <= len(table) for number in numbers):
            raise Unreadable(f"{kind} {max(numbers)}: it does not stand before what names it")
        self._named.update((kind, number) for number in numbers)
        return [table[number - 1] for number in numbers]

    def _check_tables(self) -> None:
        """Each line stands once, and something needs it."""
        steps = [(step.core, *late) for step, late in zip(self.steps, self.lates, strict=True)]
        tables: tuple[tuple[str, Sequence[Any]], ...] = (
            ("option", self.options), ("step", steps), ("offer", self.offers),
        )  # fmt: skip
        for kind, table in tables:
            if len({*table}) < len(table):
                raise Unreadable(f"one {kind} stands there twice")
            if any((kind, number) not in self._named for number in range(1, len(table) + 1)):
                raise Unreadable(f"one {kind} is named by nothing")
        if self.header["classes"] != len(self.runs) or not self.runs:
            said, found = self.header["classes"], len(self.runs)
            raise Unreadable(f"the header speaks of {said} classes, and there are {found}")

    def in_words(self, option: int) -> str:
        """An option in words."""
        *words, nth = self.options[option - 1]
        return " ".join(word for word in words if word) + (f"#{nth}" if nth > 1 else "")

    # -- the verdict ------------------------------------------------------------------------------

    @property
    def proves(self) -> str:
        """What it is about, in words."""
        header = self.header
        set_to = ", ".join(f"{name}={value}" for name, value in header["switches"].items())
        faults = f"≤ {header['faults_max']} fault{'s' * (header['faults_max'] != 1)}, no delays"
        classes = f"{len(self.runs):,} class{'es' * (len(self.runs) != 1)}"
        about = header["scenario"] + f" ({set_to})" * bool(set_to)
        return f"{header['verdict']}, in {classes} of {about}, {faults}"

    @property
    def tried_in_words(self) -> str:
        """How much was looked for."""
        return f"{self.tried:,} ways to branch off were tried"

    def check_verdict(self) -> None:
        """Refuse it if its verdict does not follow from its classes, or a limit was exceeded."""
        header, claims = self.header, [name for name, _ in self.header["claims"]]
        for run in self.runs:
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
            self._check_bounds(run, where)
        verdict = "violated" if any(run.broken for run in self.runs) else "held"
        if header["verdict"] != verdict:
            said = header["verdict"]
            raise CertificateRefused(f"its verdict is {said!r}; of its classes follows {verdict!r}")

    def _check_bounds(self, run: RunClass, where: str) -> None:
        """No more turns, time and faults than there may be."""
        budget, faults_max = self.header["budget"], self.header["faults_max"]
        if faults_max > sum(times for _, times in self.header["allowed"]):
            raise CertificateRefused("more faults may strike than are allowed")
        turns_max, ms_max = budget.get("turns_max"), budget.get("virtual_ms_max")
        if type(turns_max) is not int or type(ms_max) is not int:
            raise CertificateRefused("the header names no limits")
        if len(run.steps) > turns_max or any(step.at > ms_max for step in run.steps):
            raise CertificateRefused(f"{where}: it goes beyond a limit")
        strikes = 0
        for offer, step in zip(run.offers, [*run.steps, None], strict=False):
            if strikes >= faults_max and offer.faults:
                raise CertificateRefused(f"{where}: more than {faults_max} faults could strike")
            strikes += step is not None and step.is_fault

    # -- coherence --------------------------------------------------------------------------------

    def check_coherence(self) -> None:
        """Refuse it if a class contradicts itself or another."""
        offered: dict[Any, tuple[Any, int]] = {}
        pasts: dict[Any, Any] = {}
        forms: dict[int, int] = {}
        for run in self.runs:
            self._check_end(run)
            self._check_turns(run)
            self._check_pasts(run, pasts)
            # After the same turns the same is offered, in the same order; and if only turns have
            # swapped places that may, the same in any order.
            same, alike = 0, 0
            for place, offer in enumerate(run.offers):
                for key, said in (((same,), offer), (alike, offer.at_any_place)):
                    known, other = offered.setdefault(key, (said, run.number))
                    if known != said:
                        raise CertificateRefused(self._offered_else(run, place, other))
                if place < len(run.steps):
                    same = digest([same, run.steps[place].core, *run.causes[place]])
                    alike = (alike + run.names[place]) % NAMES_MODULO
            other = forms.setdefault(sum(run.names), run.number)
            if other != run.number:
                raise CertificateRefused(f"classes {other} and {run.number} are the same")

    def _offered_else(self, run: RunClass, place: int, other: int) -> str:
        at = f"before {self.in_words(run.steps[place].option)!r}" if place < len(run.steps) else ""
        where = f"class {run.number}, {at or 'at its end'}"
        return f"{where}: offered else than in class {other} after the same"

    def _check_end(self, run: RunClass) -> None:
        """At rest nothing is left to be done."""
        where = f"class {run.number}"
        if len(run.offers) != len(run.steps) + 1:
            raise CertificateRefused(f"{where}: each turn needs one offer, and its end needs one")
        if run.offers[-1].ready:
            left = self.in_words(run.offers[-1].ready[0])
            raise CertificateRefused(f"{where}: it lacks its last turn: {left!r} is left")

    def _check_turns(self, run: RunClass) -> None:
        """Each turn was offered, at the time at which it was due."""
        now = 0
        for place, step in enumerate(run.steps):
            offer = run.offers[place]
            where = f"class {run.number}, turn {place + 1} ({self.in_words(step.option)})"
            all_offered, at = offer.ready + offer.faults, run.places[place]
            is_last = at >= len(offer.ready)
            if (
                at >= len(all_offered)
                or all_offered[at] != step.option
                or (is_last != step.is_fault)
            ):
                raise CertificateRefused(f"{where}: it was not offered")
            now = now if step.is_fault else max(now, offer.due)
            if step.at != now:
                raise CertificateRefused(f"{where}: at {step.at} ms, where it was due at {now} ms")

    def _check_pasts(self, run: RunClass, pasts: dict[Any, Any]) -> None:
        """A turn with the same past has the same causes, and does the same up to where it picks
        otherwise."""
        for place, step in enumerate(run.steps):
            causes = sorted(run.names[cause] for cause in run.causes[place])
            key = (step.option, step.at, run.pasts[place])
            where = f"class {run.number}: {self.in_words(step.option)!r}"
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

    # -- coverage ---------------------------------------------------------------------------------

    def check_coverage(self) -> None:
        """Refuse it if a Run could branch off to where no class is."""
        done: set[int] = set()
        for run in self.runs:
            so_far = 0
            for place, name in enumerate(run.names):
                # Classes that begin with the same turns branch off from them in the same ways.
                so_far = digest([so_far, name])
                if so_far not in done:
                    done.add(so_far)
                    self._need_races(run, place)
                    self._need_picks(run, place)
                    self._need_faults(run, place)
                    self._need_withdrawn(run, place)
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
            why = f"may come before {self.in_words(run.steps[first].option)!r}"
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
            where = f"class {run.number}: {self.in_words(run.steps[fault].option)!r}"
            raise CertificateRefused(
                f"{where} need not happen at turn {fault + 1}, and no class goes on without a fault"
            )

    def _need_withdrawn(self, run: RunClass, place: int) -> None:
        """4b: what was ready here, and is not after this turn, happens in its place."""
        step, offer = run.steps[place], run.offers[place]
        if step.is_fault or offer.due > step.at:
            return
        later = run.offers[place + 1].ready
        for option in (o for o in offer.ready if o != step.option and o not in later):
            why = f"was ready at {self.in_words(step.option)!r}"
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
            after = "at first" if before is None else f"after {self.in_words(before)!r}"
            where = f"class {run.number}: {self.in_words(option)!r} {why}, {after}"
            raise CertificateRefused(f"{where}, and no class begins so")
        self._found.add(beginning)

    def _with(self, run: RunClass, places: Iterable[int]) -> Iterable[RunClass]:
        """The classes that have all of these turns."""
        left = (1 << len(self.runs)) - 1
        for place in places:
            left &= self._having[run.steps[place].core]
        while left:
            yield self.runs[(left & -left).bit_length() - 1]
            left &= left - 1


def _in_line(kind: str, number: int, table: Sequence[Any]) -> None:
    if number != len(table) + 1:
        raise Unreadable(f"{kind} {number}: expected {kind} {len(table) + 1} there")
