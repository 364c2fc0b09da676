"""What all controllers share: a queue of keys, what they expect to hear of, and the pods they own.

May use: switches.
In order: control_loop, expectations, pod_state, wanted, ranking, owned, pod_control,
  pod_status.
"""
