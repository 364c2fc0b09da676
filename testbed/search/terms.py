"""Terms: what is searched, by which claims and code, so that a certificate can be compared with it.

The same scenario, switches and faults have the same terms, as long as no code has changed. Two
searches with the same terms look at the same Runs and judge them by the same claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from testbed import policy
from testbed.fault import Fault
from testbed.invariant import Invariant
from testbed.search.sources import OURS_NAME, digest_of_ours, digests
from testbed.version import VERSION
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import Scenario
from testbed.world.world import World


def world_of(
    recipe: Scenario, switches: Mapping[str, Any], added: Iterable[str], *, allows_none: bool
) -> World:
    """Assemble the World of a search: with the faults that were allowed beside the scenario's own,
    or with none at all."""
    world = recipe.world(switches, faults=map(parse_fault, added))
    if allows_none:
        world.forbid()
    return world


def terms_of(
    recipe: Scenario,
    switches: Mapping[str, Any] | None = None,
    added: Iterable[str] = (),
    *,
    allows_none: bool = False,
) -> dict[str, Any]:
    """Return the terms of a search, as plain data for JSON."""
    added = tuple(added)
    world = world_of(recipe, switches or {}, added, allows_none=allows_none)
    return {
        "testbed": VERSION,
        "scenario": recipe.name,
        "switches": dict(world.switches),
        "in_force": world.in_force.flat(),
        "added": list(added),
        "allows_none": allows_none,
        "allowed": [[_in_words(fault), fault.times_max] for fault in world.allowed],
        "budget": attrs.asdict(world.budget),
        "claims": [[claim.name, _reads(claim)] for claim in world.judge.claimed(Invariant)],
        "sources": {OURS_NAME: digest_of_ours(), **digests(modules_of(recipe, world))},
    }


def modules_of(recipe: Scenario, world: World) -> Iterator[str]:
    """Return the modules that a World of this scenario is made of."""
    yield recipe.build.__module__
    yield from policy.modules()
    yield from (type(role.factory()).__module__ for role in world.table.roles.values())
    yield from (type(post.endpoint).__module__ for post in world.wire.posts.values())
    yield from (type(fault).__module__ for fault in world.allowed)
    for claim in world.judge.claimed(Invariant):
        yield type(claim).__module__
        yield getattr(getattr(claim, "claim", claim), "__module__", "")


def _in_words(fault: Fault) -> str:
    """A fault with all of its settings."""
    settings = attrs.asdict(fault, recurse=False)
    return f"{fault.word} " + ", ".join(f"{name}={value!r}" for name, value in settings.items())


def _reads(claim: Invariant) -> str:
    """What a claim says that it reads."""
    return "anything" if claim.reads is None else ", ".join(sorted(claim.reads))
