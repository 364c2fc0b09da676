"""Trial: one node as it would be with some pods more or less; the cluster stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.framework.filter import Account
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.placing.judging import Judging
from actors.scheduler.preemption.quick_trial import Room

Said = Refusal | Account
"""What a filter says: once for all, or kept up to date."""


class Trial:
    """Pods are taken from a node and put back, and the filters are asked each time (SCH-116).

    Most pods matter only for what they take of the node. As long as none has come or gone that
    matters for more, Accounts stand for the node: with the pods nominated there, and without them
    (SCH-60). From then on a copy of the node is kept, and every filter asked anew.
    """

    def __init__(self, judging: Judging, node: NodeInfo) -> None:
        self.name = node.name
        """The node it is about."""
        self._judging = judging
        self._home = node
        self._states = judging.states
        self._node: NodeInfo | None = None
        self._moves: list[tuple[PodInfo, int]] = []
        """What its copy, once there is one, has to make up for."""
        self._said: list[Said] | None = None
        self._accounts: list[Account] = []
        nominated = judging.nominated_on(node.name)
        if judging.refusal is None and not any(map(judging.is_minded, nominated)):
            self._said = self._say(nominated)
            self._accounts = [said for said in self._said if not isinstance(said, Refusal)]

    @property
    def node(self) -> NodeInfo:
        """The node as it would be; not to be changed but by this Trial."""
        if self._node is None:
            self._node = self._home.copy()
            for info, by in self._moves:
                (self._node.add if by > 0 else self._node.remove)(info)
        return self._node

    def add(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be there; or on another node, of that name."""
        is_here = not node or node == self.name
        if self._said is not None and self._judging.is_minded(info):
            self._ask_anew()
        if self._said is None:
            place = self._home if is_here else self._judging.node(node)
            self._states = [(f, f.added(s, info, place)) for f, s in self._states]
        if is_here:
            for account in self._accounts:
                account.add(info)
            if self._node is not None:
                self._node.add(info)
            else:
                self._moves.append((info, 1))

    def remove(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be gone from there; or from another node, of that name."""
        is_here = not node or node == self.name
        if self._said is not None and self._judging.is_minded(info):
            self._ask_anew()
        if self._said is None:
            place = self._home if is_here else self._judging.node(node)
            self._states = [(f, f.removed(s, info, place)) for f, s in self._states]
        if is_here:
            for account in self._accounts:
                account.remove(info)
            if self._node is not None:
                self._node.remove(info)
            else:
                self._moves.append((info, -1))

    def remove_all(self, infos: Iterable[PodInfo]) -> None:
        """Let these pods be gone from there."""
        for info in infos:
            self.remove(info)

    def spare(self, info: PodInfo) -> bool:
        """Let that pod be there, if the pod fits all the same; whether it does."""
        self.add(info)
        fits = self.fits()
        if not fits:
            self.remove(info)
        return fits

    def refusal(self) -> Refusal | None:
        """Why the pod may not go to this node as it would be; None if it may."""
        if self._said is None:
            return self._judging.verdict(self._states, self.node)
        for said in self._said:
            refusal = said if isinstance(said, Refusal) else said.refusal()
            if refusal is not None:
                return refusal
        return None

    def fits(self) -> bool:
        """Whether it may go there."""
        return self.refusal() is None

    def _say(self, nominated: Sequence[PodInfo]) -> list[Said]:
        """What the filters say that have something to say: with these pods on the node as well;
        and once more without them, unless one says no for good."""
        said: list[Said] = []
        for each, state in self._states:
            account = each.account(state, self._home)
            if account is not None:
                for info in nominated:
                    account.add(info)
                said.append(account)
                continue
            refusal = each.check(state, self._home)
            if refusal is not None:
                return [*said, each.sound(refusal)]
        if nominated:
            again = [each.account(state, self._home) for each, state in self._states]
            said += [account for account in again if account is not None]
        return said

    def _ask_anew(self) -> None:
        """A pod comes or goes that matters: keep the node itself from now on."""
        self._node, self._said, self._accounts = self.node, None, []


AnyTrial = Trial | Room
"""Where nothing but what is left matters, sums are enough."""


def trial_of(judging: Judging, name: str) -> AnyTrial:
    """A node to try things on; KeyError if there is none of that name."""
    node, asked = judging.node(name), judging.only_room
    if asked is None or any(f.check(s, node) is not None for f, s in judging.fixed):
        return Trial(judging, node)
    return Room(*asked, node, judging.nominated_on(name))
