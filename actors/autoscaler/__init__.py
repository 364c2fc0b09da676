"""The cluster autoscaler: it adds nodes for pods that find no room, and removes idle ones.

May use: framework, shared.
In order: settings, pass_record, simulation, state, templates, expander, expanders, switches,
  announcer, listers, scale_down.
"""
