"""YuniKorn: a scheduler of its own beside the default one, with a preemptor for DaemonSet pods.

core/  the books, the scheduling cycle, the simple preemptor: an Endpoint, which knows no Kubernetes
shim/  the actor that tells the core of pods and nodes, binds what it places, deletes its victims

May use: shared.
In order: switches, amounts, messages, core, shim, __init__, invariants, proving_ground, mutants.
"""

from actors.yunikorn.core.core import YuniKornCore
from actors.yunikorn.core.queue import QueueSettings
from actors.yunikorn.shim.shim import YuniKornShim

__all__ = ["QueueSettings", "YuniKornCore", "YuniKornShim"]
