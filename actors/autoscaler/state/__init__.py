"""What the autoscaler knows between two passes: of the cloud, of its requests, of ailing groups.

May use: settings.
In order: readiness, backoff, cloud_view, cluster_state, status.
"""
