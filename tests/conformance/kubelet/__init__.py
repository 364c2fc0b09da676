"""Cases of the kubelet: what it admits, and what it evicts."""
