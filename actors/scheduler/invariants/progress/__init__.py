"""Progress: claims about what preemption comes to over many cycles: that it helps, and ends.

Each keeps what it needs and looks only at what a turn has changed, so a turn costs the same however
long the Run is. Only a displacement, or a cycle of a pod that has preempted, costs more: as much as
there are pods on its node, or displacements that led to it.

May use: cycles.
In order: displacements, wishes, promises; then siblings.
"""
