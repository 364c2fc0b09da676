"""Attended player: plays the Runs of a search with real programs in place of actors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed.attended.steady import Steady
from testbed.attended.tape import with_tape
from testbed.objects.codec import decode
from testbed.search.planned_run import Outcome, PlannedRun, SearchTask
from testbed.search.player import Player, outcome_of
from testbed.turns.session import play_all
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario


class AttendedPlayer(Player):
    """Plays PlannedRuns with real programs, one after another; none of them may have a plan.

    The choices of a Run do not make it again, for what the programs did is no choice. So the trace
    of a violated Run is kept: what has joined stands in it.
    """

    def __init__(
        self,
        task: SearchTask,
        cast: Callable[[Scenario], Scenario],
        keep: Callable[[Sequence[bytes]], object],
    ) -> None:
        """`cast` puts the programs into the Scenario; `keep` is called with the trace of a Run of
        which a race is to be made."""
        super().__init__(task)
        self._simulated = self.recipe
        self.recipe = cast(self.recipe)
        self._keep = keep
        self._traces: dict[int, list[bytes]] = {}
        """By the number of a violated Run: its lines."""

    def play(self, planned: PlannedRun) -> Outcome:
        self.chooser(planned.chooser)
        observed = self._choosers[planned.chooser]
        world = self.world()
        assert world.attendance is not None
        steady = Steady(observed, world.attendance)
        world.prepare(steady, trace=Trace({}, keep=True), number=planned.run)
        play_all([world], driver=self.task.driver)
        assert world.verdict is not None
        if world.verdict.is_violated:
            self._traces[planned.run] = list(world.trace.lines())
        return outcome_of(planned, world, world.verdict, observed)

    def recipe_again(self, outcome: Outcome) -> Scenario:
        lines = self._traces.pop(outcome.run)
        self._keep(lines)
        header, *contents = map(decode, lines)
        steps = [content for content in contents if "do" in content]
        # Under the holds of a race there are other Steps in between, so places count turns.
        return with_tape(self._simulated, header["attended"], steps, by_turns=True)
