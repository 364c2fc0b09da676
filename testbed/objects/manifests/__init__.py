"""Manifests: kubectl's YAML and JSON, from text to objects and back.

May use: form, plain, meta, kinds.
In order: scalar, yaml_stream, manifest.
"""
