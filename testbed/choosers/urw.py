"""urw: a random walk that makes every interleaving alike, weighted by what is still to come.

Where one process has forty effects before it and another has one, a plain random walk lets the one
come first, nearly always. Here each process is drawn in proportion to the *share* of its next
effect: how many effects it and all that hangs on it will still have, as learnt from other Runs
(`learned.py`). If these were learnt exactly, every interleaving of an instant is equally likely.
One that nothing is known of, as in the first Run, has a share of 1.
"""

from __future__ import annotations

from testbed.choosers.sampling.sampler import Sampler, by_process
from testbed.turns.option import Option


class URW(Sampler):
    """Uniform random walk over interleavings."""

    def effect(self, ready: list[Option]) -> Option:
        processes = by_process(ready)
        shares = [self.learned.share(path, self.performed.get(path, 0)) for path in processes]
        return self.chance.one_of(self.chance.weighted([*processes.values()], shares))
