"""The scenarios that come with the testbed: each a race, and the guard that prevents it.

May use: testbed, actors.
In order: siblings, autoscaler, preemption, yunikorn, cluster.
"""
