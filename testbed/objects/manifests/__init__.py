"""Manifests: kubectl's YAML and JSON, read into objects and written from them.

May use: form, plain, meta, kinds.
In order: scalar, yaml_stream, manifest.
"""
