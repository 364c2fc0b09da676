"""surw: one contended key for each Run; every order of the effects on that key is equally likely.

1. A key that one process writes and another reads is drawn, from those learnt.
2. A process is drawn that is to touch the key next, in proportion to how many of its effects still
   will. It is *meant*: until it has touched the key, no other process may.
3. All other effects are drawn with equal chances.
4. If nothing may move, because the process that is meant waits for another one, another process is
   meant. So it is if it has not touched the key for as long as the whole calm run takes.

A process that does not exist yet is drawn like any other; the process it will come from moves in
its place. So every order of the effects on the key is equally likely, and all Runs remain possible
(selectively uniform random walk). With nothing learnt, as in the first Run, all effects are drawn
with equal chances.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from testbed.chooser import RunInfo
from testbed.choosers.sampling.learned import UNIT
from testbed.choosers.sampling.profiler import Access
from testbed.choosers.sampling.sampler import Sampler, by_process
from testbed.turns.option import Option


class SURW(Sampler):
    """Selectively uniform random walk."""

    def begun(self, run: RunInfo) -> None:
        keys = self.learned.keys()
        self.key = self.chance.one_of(keys) if keys else ""
        """What this Run is about."""
        self._left = self.learned.effects_on(self.key)
        """By process: how many of its effects are still to touch the key, in UNITs."""
        self._seen: set[str] = set()
        self._touching: dict[Option, bool] = {}
        self._meant = ""
        self._meant_at = 0
        self._patience = run.turns_expected()

    def effect(self, ready: list[Option]) -> Option:
        self._seen.update(option.path for option in ready)
        touching = {option.path: option for option in ready if self._touches(option)}
        if touching and (not self._meant or self._is_overdue()):
            self._mean(touching)
        goes = self._goes(self._meant)
        allowed = [o for o in ready if o.path == goes or not self._touches(o)]
        if not allowed:
            self._mean(touching, only=touching)
            goes = self._goes(self._meant)
            allowed = [option for option in ready if option.path == goes]
        option = self.chance.one_of(self.chance.one_of([*by_process(allowed).values()]))
        if self._touches(option):
            self._left[option.path] = max(self._left.get(option.path, 0) - UNIT, 0)
            self._meant = ""
        return option

    def _touches(self, option: Option) -> bool:
        touches = self._touching.get(option)
        if touches is None:
            access = Access.of(option, option.may)
            touches = self._touching[option] = self.key in (*access.reads, *access.writes)
        return touches

    def _mean(self, touching: Iterable[str], only: Container[str] | None = None) -> None:
        """Draw the process that touches the key next. One that is about to touch it, although it
        should have no effect left on it by what was learnt, has one more."""
        # To draw by what is left is to draw from an urn with one ball for each effect still to
        # come. Every order of the balls is equally likely, so every order of the effects on the
        # key is, if what was learnt is exact. If processes were drawn with equal chances instead,
        # the one with few effects would nearly always be through with them early.
        weights = {path: left for path, left in self._left.items() if left and self._goes(path)}
        weights.update({path: UNIT for path in touching if not self._left.get(path)})
        if only is not None:
            weights = {path: left for path, left in weights.items() if self._goes(path) in only}
        self._meant = self.chance.weighted([*weights], [*weights.values()])
        self._meant_at = self.effects

    def _is_overdue(self) -> bool:
        return self.effects - self._meant_at > self._patience

    def _goes(self, path: str) -> str:
        """That process; if it does not exist yet, the one it will come from; or empty."""
        passed: list[str] = []
        while path and path not in self._seen and path not in passed:
            passed.append(path)
            path = self.learned.born.get(path, "")
        return path if path in self._seen else ""
