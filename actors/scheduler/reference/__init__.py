"""The reference: the rules of scheduling once more, as plain loops over nodes and pods.

It has no cache, no columns and no counts that it keeps. It is as slow as it is simple, so that one
can check it against the specification by reading. With the scheduler it shares only the objects,
the switches and the types of a decision. So each tests the other: invariants compare the decisions
of a Run with it, and the tests of conformance compare both with recorded decisions of Kubernetes.
Keep it plain: code that is made faster here no longer proves anything.

May use: switches, decisions.
In order: cluster, nodes, importance, budgets, messages, neighbours, spread, room, filters,
  feasibility, scores, experiments, victims, preemption, decide.
"""
