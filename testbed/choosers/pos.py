"""pos: each pending effect has a random score, and the highest is performed.

Scores persist, but those of effects that clash with the one performed are drawn anew. So whatever
does not matter to a race does not make it any rarer: each order of what clashes is drawn with a
chance of its own (partial order sampling).
"""

from __future__ import annotations

from testbed.chooser import RunInfo
from testbed.choosers.sampling.sampler import Sampler
from testbed.store.footprint import Footprint
from testbed.turns.option import Option
from testbed.turns.trace import Step


class POS(Sampler):
    """Partial order sampling."""

    def begun(self, run: RunInfo) -> None:
        self._scores: dict[Option, int] = {}
        self._did: list[Footprint] = []

    def effect(self, ready: list[Option]) -> Option:
        scores, did = self._scores, self._did
        for option in ready:
            if option not in scores or any(option.may.clashes(other) for other in did):
                scores[option] = self.chance.bits(64)
        did.clear()
        best = max(ready, key=scores.__getitem__)
        del scores[best]
        return best

    def ended(self, step: Step) -> None:
        super().ended(step)
        if step.option.is_effect:
            self._did.append(step.did)
