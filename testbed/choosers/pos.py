"""pos: each pending effect has a random score, and the highest is performed.

A score stays as long as its effect waits, unless an effect is performed that clashes with it: then
it is drawn again (partial order sampling). So effects that do not matter to a race do not make it
any rarer.
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
        # Of two effects that clash, either has the higher score with the same chance, however many
        # other effects are performed before, between and after: their scores are drawn apart.
        # An effect that has waited for long has lost against many and so has a low score. If it
        # kept that, it would come last among the effects it clashes with from now on as well.
        # After each clash the order of what is left is drawn without that memory.
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
