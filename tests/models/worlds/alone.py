"""What a process plays for tests/law/test_alone.py: Runs by their numbers, a digest a line."""

from __future__ import annotations

import sys

from testbed.choosers.pct import PCT
from testbed.choosers.pos import POS
from testbed.choosers.surw import SURW
from testbed.choosers.uniform import Uniform
from testbed.choosers.urw import URW
from testbed.turns.trace import Trace
from testbed.world.fault_kinds import fault_kinds, fault_of
from testbed.world.scenario import Scenario, known

SAMPLERS = (Uniform, POS, PCT, URW, SURW)


def recipe_of(number: int) -> Scenario:
    """What the Run of that number plays."""
    recipes = known()
    return recipes[number % len(recipes)]


def digest_of_run(number: int) -> str:
    """Play the Run of that number: another scenario each, then another Chooser; one in two with any
    of the twelve kinds of faults."""
    recipe = recipe_of(number)
    sampler = SAMPLERS[number // len(known()) % len(SAMPLERS)]
    faults = [fault_of(word) for word in sorted(fault_kinds())] if number % 2 else []
    world = recipe.world(faults=faults)
    world.run(sampler(number), driver="direct", trace=Trace({}, keep=True))
    return world.trace.digest()


def main() -> None:
    """Play the Runs that the command line numbers, in that order."""
    for number in map(int, sys.argv[1:]):
        sys.stdout.write(f"{number} {digest_of_run(number)}\n")


if __name__ == "__main__":
    main()
