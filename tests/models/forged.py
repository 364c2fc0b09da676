"""A certificate taken apart, changed at will, and written again with every sum and number right."""

from __future__ import annotations

import json
import zlib
from copy import deepcopy
from pathlib import Path
from typing import Any

import attrs

Data = dict[str, Any]


def lines_of(path: Path) -> list[Data]:
    """The lines of the file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write_lines(path: Path, lines: list[Data]) -> None:
    """Write them with sums that are right, as anybody could who has edited them."""
    total, whole = 0, b""
    for line in lines:
        body = json.dumps({k: v for k, v in line.items() if k != "sum"}).encode()
        total = zlib.crc32(body, total)
        whole += b'%s,"sum":"%08x"}\n' % (body[:-1], total)
    path.write_bytes(whole)


@attrs.define
class Forged:
    """A header, and classes in which each turn and each offer says all of itself."""

    header: Data
    classes: list[Data]

    @classmethod
    def of(cls, path: Path) -> Forged:
        """Take a file apart."""
        header, *lines = lines_of(path)
        options = {line["option"]: line["is"] for line in lines if "is" in line}
        steps = {line["step"]: line for line in lines if "step" in line}
        offers = {line["offer"]: line for line in lines if "offer" in line}
        classes = []
        for line in lines:
            if "run" not in line:
                continue
            turns = [
                {
                    "is": options[steps[step]["option"]],
                    "place": place,
                    "causes": causes,
                    **{k: steps[step][k] for k in ("picks", "at", "reads", "writes", "late")},
                }
                for step, place, causes in line["run"]
            ]
            said = [
                {
                    "ready": [options[option] for option in offers[number]["ready"]],
                    "faults": [options[option] for option in offers[number]["faults"]],
                    "due": offers[number]["due"],
                }
                for number in line["offers"]
            ]
            how = {key: line[key] for key in ("verdict", "end", "broken")}
            classes.append({**how, "turns": turns, "offers": said})
        return cls(header, deepcopy(classes))

    def copy(self) -> Forged:
        """Another one, to be changed."""
        return Forged(deepcopy(self.header), deepcopy(self.classes))

    def judged(self) -> Forged:
        """It, with verdicts and a count that follow from its classes."""
        for each in self.classes:
            each["verdict"] = "violated" if each["broken"] else "held"
        worst = "violated" if any(each["broken"] for each in self.classes) else "held"
        self.header["verdict"], self.header["classes"] = worst, len(self.classes)
        return self

    def lines(self) -> list[Data]:
        """Its lines, numbered as a search would number them."""
        tables: dict[str, dict[str, int]] = {"option": {}, "step": {}, "offer": {}}
        lines = [self.header]

        def number(kind: str, said: Data) -> int:
            table, key = tables[kind], json.dumps(said, sort_keys=True)
            if key not in table:
                table[key] = len(table) + 1
                lines.append({kind: table[key], **said})
            return table[key]

        for at, each in enumerate(self.classes, 1):
            run, offers = [], []
            for turn in each["turns"]:
                option = number("option", {"is": turn["is"]})
                said = {k: turn[k] for k in ("picks", "at", "reads", "writes", "late")}
                step = number("step", {"option": option, **said})
                run.append([step, turn["place"], turn["causes"]])
            for offer in each["offers"]:
                ready = [number("option", {"is": option}) for option in offer["ready"]]
                faults = [number("option", {"is": option}) for option in offer["faults"]]
                said = {"ready": ready, "faults": faults, "due": offer["due"]}
                offers.append(number("offer", said))
            how = {key: each[key] for key in ("verdict", "end", "broken")}
            lines.append({"class": at, **how, "run": run, "offers": offers})
        return lines

    def write(self, path: Path) -> None:
        """Write the file."""
        write_lines(path, self.lines())
