"""The scenarios that come with the testbed, by theme: each a race, and the guard that prevents it.

May use: testbed, actors.
In order: basics, slots, preemption, priority, caches, leaders, kubelet, budgets, controllers,
  autoscaling, cluster.
"""
