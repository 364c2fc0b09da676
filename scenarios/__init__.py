"""The scenarios that come with the testbed, by theme: pairs with a guard, controls and lessons.

May use: testbed, actors.
In order: basics, slots, preemption, nominations, priority, caches, leaders, kubelet, budgets,
  controllers, autoscaling, cluster, levels.
Tags:
  several-schedulers: more than one scheduler binds pods, and each knows its own memory alone.
  nomination: room is kept for a pod, or should be.
  grace-period: a victim takes its time to end.
  stale-cache: a program decides by what is no longer so.
  lost-reply: a request took effect, and its answer did not come.
  restart: a program dies and starts again, or another takes its place.
  check-then-act: what was looked at has changed before it is acted on.
  lost-wake-up: nothing tries a pod again that could run.
  write-order: two writes in the wrong order.
  endless: it goes on for ever.
  silent: no component notices.
  starvation: one waits for ever, and others do not.
  two-views: two programs judge the same thing differently.
  no-timing: it happens however things are timed.
  disruption-budget: a PodDisruptionBudget is spent, or should hold.
  double-count: the same thing counts twice.
  priority: which pod is more important.
  affinity: pods that must be together or apart.
  pressure: a node runs out of memory or disk.
  eviction: a kubelet, a taint or a descheduler sends pods away.
  scale-up: an autoscaler makes the cluster larger.
  scale-down: an autoscaler makes it smaller.
"""
