"""Which pods ask for room, which group could give it, and how many nodes are asked for.

May use: settings, pass_record, node_capacity, simulation, state, templates, expander, announcer,
  memory.
In order: options, limits, balancing, scale_up, events.
"""
