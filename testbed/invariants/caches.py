"""At quiescence every Cache equals the Store, as far as it was asked for (INV-40)."""

from __future__ import annotations

from testbed.invariant import Evidence, Invariant
from testbed.objects.meta import prefix_of
from testbed.selector import differ_in


class CachesEqualTheStore(Invariant):
    """When nothing can move any more, what each actor knows is what is."""

    name = "caches_equal_the_store"
    reads = frozenset()

    def end(self, evidence: Evidence) -> str | None:
        for role in evidence.actors:
            for cache in role.life.caches if role.life and role.is_up else ():
                entries = evidence.store.snapshot(prefix_of(cache.kind))
                actual = {e.key: e.value for e in entries if cache.selector.has(e)}
                if said := _difference(cache.known, actual, cache.reads):
                    return f"the cache of {cache.kind.plural} in {role.name} {said}"
        return None


def _difference(
    known: dict[str, object], actual: dict[str, object], reads: tuple[str, ...] | None
) -> str:
    """What is known wrongly, of all there is or of the fields that were declared."""
    for key in sorted({*known, *actual}):
        if key not in known:
            return f"lacks {key}"
        if key not in actual:
            return f"still holds {key}, which is gone"
        one, other = known[key], actual[key]
        if one != other if reads is None else differ_in(reads, one, other):
            return f"holds {key} as it was, not as it is"
    return ""
