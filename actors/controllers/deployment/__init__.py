"""The Deployment controller: replaces pods step by step when their template changes.

May use: frame.
In order: bounds, revision, scaling, rollout, controller.
"""
