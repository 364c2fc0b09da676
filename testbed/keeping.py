"""Keeping: whether a race that was kept as a file still shows what the file says it does.

`violates` is as expected while the race can still happen; `holds`, when it cannot any more.
"""

from __future__ import annotations

import attrs

from testbed.expecting import Side, expect
from testbed.explain import story
from testbed.race import Expectation, Race
from testbed.racing import Played
from testbed.scenario import Scenario


@attrs.frozen
class Kept:
    """One expectation of a race file, and what came of it."""

    race: Race
    expectation: Expectation
    played: Played

    @property
    def is_as_expected(self) -> bool:
        """Whether the Run has shown it, and, of a breach, by every line of the race."""
        side = Side(self.expectation, self.played)
        return side.is_met and not side.is_stale

    @property
    def broken(self) -> list[str]:
        """The claims that were breached."""
        return [violation.invariant for violation in self.played.verdict.violations]

    @property
    def unmatched(self) -> list[str]:
        """The lines of the race that spoke of nothing that came up, and what came closest."""
        said = []
        for fate in self.played.fates:
            if not fate.matched:
                line = f"line {fate.deviation.line} matched nothing: {fate.deviation}"
                closest = self.played.closest(fate)
                said.append(f"{line}; closest: {closest}" if closest else line)
        return said

    @property
    def said(self) -> str:
        """What was expected, and what came of it instead."""
        expect, verdict = self.expectation, self.played.verdict
        if not expect.violates:
            return f"expected to hold: {', '.join(expect.holds) or 'every claim'}.\n{verdict}"
        if expect.violates in self.broken:
            return f"{expect.violates} was breached, but not by this race.\n{verdict}"
        return (
            f"expected a breach of {expect.violates}.\n{verdict}\n"
            f"If that is mended, let the file say `holds: [{expect.violates}]`."
        )

    def told(self, again: str) -> str:
        """What a failing test shows: that, who did what, and the line to paste."""
        unmatched = "".join(f"{line}\n" for line in self.unmatched)
        drawn = story(self.played.trace, self.played.verdict)
        return f"{self.said}\n{unmatched}\n{drawn}\n\nAgain: {again}"


def keep(race: Race, expectation: Expectation, recipe: Scenario) -> Kept:
    """Play the race under the switches of that expectation."""
    return Kept(race, expectation, expect(race, recipe, expectation).played)
