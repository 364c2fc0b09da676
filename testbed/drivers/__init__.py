"""The drivers: what carries the tasks of a World. Both give identical traces."""
