"""The core: partition, queues, applications, nodes; the scheduling cycle; the simple preemptor.

May use: switches, amounts, messages.
In order: allocation, node, queue, application, partition, preemption, cycle, core, __init__.
"""
