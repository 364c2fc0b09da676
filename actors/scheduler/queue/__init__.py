"""The scheduling queue: which pod is tried next, and when a pod that failed is tried again.

May use: switches, cluster.
In order: heap, in_flight, queued, fifo, unschedulable, priority_queue.
"""
