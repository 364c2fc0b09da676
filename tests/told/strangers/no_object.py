"""No object: a claim says only that there are too few of something, and names nothing."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from testbed import Evidence, World, quiescent
from tests.never_rest.replicas import web
from tests.told.frame import Told
from tests.told.strangers.heartbeat_over_scale import Ann, Site


def there_are_enough(see: Evidence) -> str | None:
    """There are five in the end, once that was asked for."""
    found: Any = see.store.peek("deployments/default/web")
    is_asked = any(each.name == "scaled" for each in see.records)
    return "too few" if is_asked and found.value.spec.replicas < 5 else None


def no_object(world: World, *, guard: bool = False) -> None:
    """A heartbeat takes a scale-up back."""
    world.serve(ApiServer)
    world.add(web(3))
    world.start(Site("site", guard), Ann("ann"))
    world.claim(quiescent(there_are_enough))
    world.limit(until_ms=45_000)


TRUE = Told(
    no_object,
    race="""
holds:
  - hold: site update deployments/default/web
    until: ann update deployments/default/web
""",
    actor="site",
    made_so="ann",
    about="deployments/default/web",
    words=("replicas",),
    never=("^ann", "ann recorded", "generation"),
    said=(
        "site updated deployments/default/web, believing that its spec.replicas was 3, as it "
        "listed at rv 2; false since ann set it to 5 at rv 3."
    ),
)
