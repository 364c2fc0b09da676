"""Manifests: kubectl's YAML and JSON, from text to objects and back.

May use: form, plain, meta, kinds, names.
In order: scalar, nesting, yaml_stream, manifest.
"""
