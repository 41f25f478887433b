from deepdiff import DeepDiff
DeepDiff({"a": 1, "b": {"c": 2}}, {}).affected_root_keys
