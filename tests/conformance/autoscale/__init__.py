"""Cases of the cluster autoscaler: whom it adds nodes for, what it removes, and when.

`objects` makes a case into objects, `emulation` stands for all that surrounds the autoscaler,
`playing` plays the case, `journal` writes down what happens, `telling` says it in the words of the
recording, and `matching` compares.
"""
