"""Eviction: which pod a node that runs short of something ends, and when (KUB-24 to KUB-38).

All of it is pure: the kubelet brings statistics and the time, and does what is decided.

May use: switches.
In order: signals, threshold, settings, ranking, message, look, choice, __init__.
"""

from actors.kubelet.eviction.settings import EvictionSettings
from actors.kubelet.eviction.threshold import HARD, Threshold

__all__ = ["HARD", "EvictionSettings", "Threshold"]
