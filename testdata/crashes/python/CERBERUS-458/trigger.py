from cerberus import schema_registry, Validator
schema_registry.add('A', {'b': {'schema': 'B'}})
schema_registry.add('B', {'c': {'type': 'string'}})
v = Validator('A')
v.validated({'b': [{'c': 'd'}]})
