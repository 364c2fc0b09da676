"""What controllers owe the cluster, as claims over the Store.

They share no code with the controllers. Each works out in the plainest way what must be true.

May use: nothing beside it.
Siblings: no file here imports another.
"""
