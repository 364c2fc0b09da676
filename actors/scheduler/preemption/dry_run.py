"""Dry run: one node without the pods that may go, on which it is tried who can stay after all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from actors.framework.podinfo import PodInfo
from actors.scheduler.preemption.trial import AnyTrial


class DryRun:
    """A node from which all have been taken that may go; the pod fits there.

    A VictimSelector reads it: it puts pods back and takes them away again as it likes.
    """

    __slots__ = ("_back", "_far", "_trial", "others", "pod", "potential", "tried", "violating")

    def __init__(
        self,
        pod: PodInfo,
        trial: AnyTrial,
        potential: Sequence[PodInfo],
        groups: tuple[list[PodInfo], list[PodInfo]],
        far: Mapping[str, str],
    ) -> None:
        self.pod = pod
        """The pod that room is made for."""
        self.potential = potential
        """The pods that may go, the most important first."""
        self.violating, self.others = groups
        """Those of them that a budget protects, and the others, in the same order."""
        self.tried = 0
        """How many sets of pods were asked about."""
        self._trial, self._far = trial, far
        self._back: dict[str, PodInfo] = {}

    @property
    def node(self) -> str:
        """The node it is about."""
        return self._trial.name

    def put_back(self, info: PodInfo) -> None:
        """Let that pod stay, for now."""
        self._back[info.uid] = info
        self._trial.add(info, self._far.get(info.uid, ""))

    def take_away(self, info: PodInfo) -> None:
        """Let it go again."""
        del self._back[info.uid]
        self._trial.remove(info, self._far.get(info.uid, ""))

    def spare(self, info: PodInfo) -> bool:
        """Let that pod stay, if the pod fits all the same; whether it does."""
        if info.uid in self._far:
            self.put_back(info)
            if not self.fits():
                self.take_away(info)
        elif self._trial.spare(info):
            self._back[info.uid] = info
        return info.uid in self._back

    def fits(self) -> bool:
        """Whether the pod fits, as things are."""
        return self._trial.fits()

    def fits_without(self, victims: Collection[PodInfo]) -> bool:
        """Whether it would fit if just these went."""
        self.tried += 1
        wanted = dict.fromkeys(info.uid for info in victims)
        for info in self.potential:
            if info.uid in wanted and info.uid in self._back:
                self.take_away(info)
            elif info.uid not in wanted and info.uid not in self._back:
                self.put_back(info)
        return self.fits()


class VictimSelector(Protocol):
    """Who of those that may go has to. A user's own is a class with a name and this method."""

    name: str

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """The pods that are to go, such that the pod fits: in the order in which the choice of
        the node shall see them. None at all is an error."""
