"""What a scheduler must decide, told as plainly as it can be: loops over nodes and pods, no cache.

Nothing here is shared with the scheduler itself but the words of its decision. So either may judge
the other, and both are judged by what the real one decided.

May use: switches, decisions.
In order: cluster, nodes, importance, budgets, messages, neighbours, spread, room, filters,
  feasibility, scores, experiments, victims, preemption, decide.
"""
