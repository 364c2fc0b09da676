"""Trial: one node as it would be with some pods more or fewer. The cluster stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.framework.filter import Account
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.placing.judging import Judging
from actors.scheduler.preemption.quick_trial import QuickTrial

Answer = Refusal | Account
"""What a filter answers: a Refusal that no move changes, or an Account that is kept up to date."""


class Trial:
    """Pods are removed from a node and added again, and the filters are asked each time (SCH-116).

    Most pods matter only by the resources they take. While only such pods are moved, Accounts stand
    for the node: with the pods nominated there, and without them (SCH-60). After the first other
    pod, a copy of the node is kept, and every filter is asked again each time.
    """

    def __init__(self, judging: Judging, node: NodeInfo) -> None:
        self.name = node.name
        """The name of the node."""
        self._judging = judging
        self._original = node
        self._states = judging.states
        self._copy: NodeInfo | None = None
        self._moves: list[tuple[PodInfo, int]] = []
        """What to repeat on the copy when it is made: each pod with 1 (added) or -1 (removed)."""
        self._answers: list[Answer] | None = None
        """None once the filters must be asked again each time."""
        self._accounts: list[Account] = []
        nominated = judging.nominated_on(node.name)
        if judging.refusal is None and not any(map(judging.is_minded, nominated)):
            self._answers = self._asked_once(nominated)
            self._accounts = [each for each in self._answers if not isinstance(each, Refusal)]

    @property
    def node(self) -> NodeInfo:
        """The node as it would be. Only this Trial may change it."""
        # The snapshot's node is also what all other trials and filters look at, so the moves are
        # made on a copy. Copying costs more than all else here: it waits until a filter needs it.
        if self._copy is None:
            self._copy = self._original.copy()
            for info, by in self._moves:
                _move(self._copy, info, by)
        return self._copy

    def add(self, info: PodInfo, node: str = "") -> None:
        """Add that pod to the node, or to another one of that name."""
        self._move(info, node, 1)

    def remove(self, info: PodInfo, node: str = "") -> None:
        """Remove that pod from the node, or from another one of that name."""
        self._move(info, node, -1)

    def remove_all(self, infos: Iterable[PodInfo]) -> None:
        """Remove these pods from the node."""
        for info in infos:
            self._move(info, "", -1)

    def spare(self, info: PodInfo) -> bool:
        """Add that pod if the preemptor still fits then. Whether it stays."""
        self.add(info)
        fits = self.fits()
        if not fits:
            self.remove(info)
        return fits

    def reprieve(self, infos: Iterable[PodInfo], back: dict[str, PodInfo]) -> list[PodInfo]:
        """Spare one of these pods after another: note in `back` the ones that stay, by uid, and
        return the others."""
        gone = []
        for info in infos:
            if self.spare(info):
                back[info.uid] = info
            else:
                gone.append(info)
        return gone

    def refusal(self) -> Refusal | None:
        """Why the preemptor may not go to this node as it would be; None if it may."""
        if self._answers is None:
            return self._judging.verdict(self._states, self.node)
        for answer in self._answers:
            refusal = answer if isinstance(answer, Refusal) else answer.refusal()
            if refusal is not None:
                return refusal
        return None

    def fits(self) -> bool:
        """Whether the preemptor may go to this node as it would be."""
        return self.refusal() is None

    def _move(self, info: PodInfo, node: str, by: int) -> None:
        """Add the pod (1) to that node, or remove it (-1); no name means the node of this Trial."""
        is_here = not node or node == self.name
        if self._answers is not None and self._judging.is_minded(info):
            self._ask_each_time()
        if self._answers is None:
            # What a filter keeps of other nodes (the pods in a zone) is in its state.
            place = self._original if is_here else self._judging.node(node)
            self._states = [
                (f, f.added(s, info, place) if by > 0 else f.removed(s, info, place))
                for f, s in self._states
            ]
        if is_here:
            for account in self._accounts:
                _move(account, info, by)
            if self._copy is not None:
                _move(self._copy, info, by)
            else:
                self._moves.append((info, by))

    def _asked_once(self, nominated: Sequence[PodInfo]) -> list[Answer]:
        """The answers of all filters: first with these pods on the node, then without them. They
        end at the first Refusal."""
        answers: list[Answer] = []
        for each, state in self._states:
            account = each.account(state, self._original)
            if account is not None:
                for info in nominated:
                    account.add(info)
                answers.append(account)
                continue
            refusal = each.check(state, self._original)
            if refusal is not None:
                return [*answers, each.sound(refusal)]
        if nominated:
            bare = [each.account(state, self._original) for each, state in self._states]
            answers += [account for account in bare if account is not None]
        return answers

    def _ask_each_time(self) -> None:
        """A pod is moved that matters by more than its resources: keep a copy from now on."""
        self._copy, self._answers, self._accounts = self.node, None, []


def _move(place: NodeInfo | Account, info: PodInfo, by: int) -> None:
    (place.add if by > 0 else place.remove)(info)


AnyTrial = Trial | QuickTrial
"""A QuickTrial where only resources matter, else a Trial."""


def trial_of(judging: Judging, name: str) -> AnyTrial:
    """A trial of the node of that name; KeyError if there is no such node."""
    node, asked = judging.node(name), judging.only_room
    if asked is None or judging.is_barred(name):
        return Trial(judging, node)
    return QuickTrial(*asked, node, judging.nominated_on(name))
