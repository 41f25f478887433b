from jsonpath_ng import parse
something = {"a": [{"b": "found value"}], "c": {"d": "another value"}}
parse("$.*[0].b").find(something)
