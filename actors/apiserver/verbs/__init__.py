"""What the API server does for each verb, one file for each family.

May use: call, validation, kind_rules, rules, admission.
In order: patching, part_patching, json_patching, field_sets, ownership, applying, create, delete,
  read, update; then siblings.
"""
