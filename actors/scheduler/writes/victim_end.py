"""The end of a victim: how any program that preempts asks for it."""

from __future__ import annotations

from actors.scheduler.switches import SchedulerSwitches
from actors.shared.verbs import evict
from testbed import Client, Operation
from testbed.objects import Pod
from testbed.turns.because import Because


async def end_victim(
    client: Client, victim: Pod, switches: SchedulerSwitches, because: Because
) -> None:
    """Delete the pod, or evict it if that is how victims go; ApiError."""
    if switches.victims_go_by == "eviction":
        await evict(client, victim, because=because)
        return
    # In 1.26 the delete names no uid: if the victim was made again under its name meanwhile, the
    # new pod is deleted (SCH-98).
    uid = victim.meta.uid if switches.preempt_delete_precondition == "uid" else ""
    meta = victim.meta
    delete = Operation("delete", victim.plural, meta.name, meta.namespace, uid=uid)
    await client.ask(delete, because=because)
