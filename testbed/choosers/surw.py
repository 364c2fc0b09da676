"""surw: one contended key for each Run; every order of the effects on it alike, the rest as comes.

1. A key that one process writes and another reads is drawn, from those learnt.
2. One process is drawn that is to touch it next, in proportion to how many of its effects still
   will. It is *meant*; until it has done so no other process may touch the key.
3. All other effects are drawn alike.
4. Where nothing may move, because the one that is meant waits for another, somebody else is meant;
   also if it has not come to it for as long as the whole calm run takes.

A process that is not there yet is drawn like any other: the one it will come from goes in its
place. So every projection of a Run to the key is equally likely, and all Runs remain possible
(selectively uniform random walk). With nothing learnt, as in the first Run, all are drawn alike.
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
        """By process: how many of its effects will still touch it, in UNITs."""
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
        """Draw who touches the key next; one that is about to, against all that was learnt, once
        more at least."""
        weights = {path: left for path, left in self._left.items() if left and self._goes(path)}
        weights.update({path: UNIT for path in touching if not self._left.get(path)})
        if only is not None:
            weights = {path: left for path, left in weights.items() if self._goes(path) in only}
        self._meant = self.chance.weighted([*weights], [*weights.values()])
        self._meant_at = self.effects

    def _is_overdue(self) -> bool:
        return self.effects - self._meant_at > self._patience

    def _goes(self, path: str) -> str:
        """That process, or the one there is that it will come from; or empty."""
        passed: list[str] = []
        while path and path not in self._seen and path not in passed:
            passed.append(path)
            path = self.learned.born.get(path, "")
        return path if path in self._seen else ""
