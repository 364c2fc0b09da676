"""Certificate: one that was read, its lines in their places and each of them needed (form)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from testbed.checks.certificate.classes import Clashes, Offered, RunClass, SeenTurn
from testbed.checks.certificate.lines import CertificateRefused, Unreadable, read


class Certificate:
    """A certificate that was read; it is refused here if its file is none."""

    def __init__(self, path: str) -> None:
        self.header: dict[str, Any] = {}
        self.options: list[tuple[Any, ...]] = []
        self.steps: list[SeenTurn] = []
        self.lates: list[tuple[frozenset[str], frozenset[str]]] = []
        """Of what each step touched, what was known only later."""
        self.offers: list[Offered] = []
        self.runs: list[RunClass] = []
        self.tried = 0
        """How many ways to branch off were looked for, once that was done."""
        self._named: set[tuple[str, int]] = set()
        """The lines that a later line names, each by its kind and number."""
        self._cores: dict[Any, int] = {}
        """A number for each turn as far as it was known when it ended."""
        self._clashes = Clashes()
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
        *words, nth, _ = self.options[option - 1]
        return " ".join(word for word in words if word) + (f"#{nth}" if nth > 1 else "")

    @property
    def proves(self) -> str:
        """What it is about, in words."""
        header = self.header
        set_to = ", ".join(f"{name}={value}" for name, value in header["switches"].items())
        faults = f"≤ {header['faults_max']} fault{'s' * (header['faults_max'] != 1)}, no delays"
        orders = header["tested"]["orders"]
        faults += f", {orders:,} other order{'s' * (orders != 1)}"
        classes = f"{len(self.runs):,} class{'es' * (len(self.runs) != 1)}"
        about = header["scenario"] + f" ({set_to})" * bool(set_to)
        until_ms = header["budget"].get("until_ms")
        verdict = header["verdict"] + ("" if until_ms is None else f" up to {until_ms:,} ms")
        return f"{verdict}, in {classes} of {about}, {faults}"

    @property
    def tried_in_words(self) -> str:
        """How much was looked for."""
        return f"{self.tried:,} ways to branch off were tried"


def _in_line(kind: str, number: int, table: Sequence[Any]) -> None:
    if number != len(table) + 1:
        raise Unreadable(f"{kind} {number}: expected {kind} {len(table) + 1} there")
