"""Incidents of schedulers, autoscalers and kubelets that were reported in public, each rebuilt as a
small World; each names its source."""
