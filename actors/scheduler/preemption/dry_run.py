"""Dry run: one node without its potential victims, to try which of them can stay (reprieve)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from actors.framework.podinfo import PodInfo
from actors.scheduler.preemption.trial import AnyTrial


class DryRun:
    """A node from which all potential victims have been removed, so that the preemptor fits.

    A VictimSelector reads it. It puts pods back and takes them away again as it likes: all that
    changes is a Trial, never the cache or the snapshot.
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
        """The potential victims, the most important first."""
        self.violating, self.others = groups
        """Those of them that a budget protects, and the others, in the same order."""
        self.tried = 0
        """How many sets of pods `fits_without` was asked about."""
        self._trial, self._far = trial, far
        self._back: dict[str, PodInfo] = {}

    @property
    def node(self) -> str:
        """The name of the node."""
        return self._trial.name

    def put_back(self, info: PodInfo) -> None:
        """Let that pod stay, for now."""
        self._back[info.uid] = info
        self._trial.add(info, self._far.get(info.uid, ""))

    def take_away(self, info: PodInfo) -> None:
        """Remove that pod again."""
        del self._back[info.uid]
        self._trial.remove(info, self._far.get(info.uid, ""))

    def spare(self, info: PodInfo) -> bool:
        """Reprieve that pod: put it back if the preemptor still fits then. Whether it stays."""
        if info.uid in self._far:
            self.put_back(info)
            if not self.fits():
                self.take_away(info)
        elif self._trial.spare(info):
            self._back[info.uid] = info
        return info.uid in self._back

    def reprieve(self, infos: Sequence[PodInfo]) -> list[PodInfo]:
        """Reprieve one of these pods after another. The ones that could not stay."""
        if self._far:
            return [info for info in infos if not self.spare(info)]
        return self._trial.reprieve(infos, self._back)

    def fits(self) -> bool:
        """Whether the preemptor fits beside the pods that are back."""
        return self._trial.fits()

    def fits_without(self, victims: Collection[PodInfo]) -> bool:
        """Whether the preemptor would fit if exactly these pods went."""
        self.tried += 1
        wanted = dict.fromkeys(info.uid for info in victims)
        for info in self.potential:
            if info.uid in wanted and info.uid in self._back:
                self.take_away(info)
            elif info.uid not in wanted and info.uid not in self._back:
                self.put_back(info)
        return self.fits()


class VictimSelector(Protocol):
    """Chooses the victims among the potential ones. A user's own is a class with a name and this
    method."""

    name: str

    def victims(self, dry: DryRun) -> Sequence[PodInfo]:
        """Called once for each node on which preemption helps: return the pods to delete, so that
        the preemptor fits. Their order is the one in which the choice of the node sees them. To
        return none is an error."""
