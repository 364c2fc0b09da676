"""Attended player: plays the Runs of a search with real programs in place of actors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed.attended.steady import Steady
from testbed.attended.tape import with_tape
from testbed.chooser import Chooser
from testbed.objects.codec import decode
from testbed.search.planned_run import Outcome, SearchTask
from testbed.search.player import Player
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario
from testbed.world.world import World


class AttendedPlayer(Player):
    """Plays PlannedRuns with real programs, one after another; none of them may have a plan.

    The choices of a Run do not make it again, for what the programs did is no choice. So the trace
    of the last Run is kept until the next one: what has joined stands in it.
    """

    def __init__(
        self,
        task: SearchTask,
        cast: Callable[[Scenario], Scenario],
        keep: Callable[[Sequence[bytes]], object],
    ) -> None:
        """`cast` puts the programs into the Scenario; `keep` is called with the trace of each Run
        of which a race is to be made, before the next World."""
        super().__init__(task)
        self._simulated = self.recipe
        self.recipe = cast(self.recipe)
        self._keep = keep
        self._trace = Trace({}, keep=True)
        """That of the last Run."""
        self._run = 0
        """The number of that Run."""
        self._is_kept = False
        """Whether `keep` was called with it: one Run may breach several claims."""

    def _prepare(self, world: World, chooser: Chooser, number: int) -> bool:
        assert world.attendance is not None
        self._trace, self._run, self._is_kept = Trace({}, keep=True), number, False
        return world.prepare(Steady(chooser, world.attendance), trace=self._trace, number=number)

    def recipe_again(self, outcome: Outcome) -> Scenario:
        assert outcome.run == self._run
        header, *contents = lines = list(self._trace.lines())
        if not self._is_kept:
            self._keep(lines)
            self._is_kept = True
        steps = [content for content in map(decode, contents) if "do" in content]
        # Under the holds of a race there are other Steps in between, so places count turns.
        return with_tape(self._simulated, decode(header)["attended"], steps, by_turns=True)
