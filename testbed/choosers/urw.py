"""urw: a random walk that makes every interleaving equally likely, by what is still to come.

If one process still has forty effects and another has one, a plain random walk nearly always lets
the one come early. Here each process is drawn in proportion to the *share* of its next effect: how
many effects it and all that hangs on it will still have, as learnt from other Runs (`learned.py`).
If these were learnt exactly, every interleaving of an instant is equally likely. A process that
nothing is known of, as in the first Run, has a share of 1.
"""

from __future__ import annotations

from testbed.choosers.sampling.sampler import Sampler, by_process
from testbed.turns.option import Option


class URW(Sampler):
    """Uniform random walk over interleavings."""

    def effect(self, ready: list[Option]) -> Option:
        # What is to come in an instant is a forest: an effect stands above what it makes possible.
        # Drawing a tree by its size takes each interleaving with the chance
        # size of tree / effects left, times the same for the next, and so on. In the product each
        # effect has given the size of its own tree once, and below stand n, n - 1, … 1: the same
        # number for every interleaving.
        processes = by_process(ready)
        shares = [self.learned.share(path, self.performed.get(path, 0)) for path in processes]
        return self.chance.one_of(self.chance.weighted([*processes.values()], shares))
