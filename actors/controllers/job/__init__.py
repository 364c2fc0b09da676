"""The Job controller: runs pods of one template until enough of them have succeeded.

May use: frame.
In order: tally, backoff, controller.
"""
