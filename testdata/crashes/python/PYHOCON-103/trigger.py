from pyhocon import ConfigFactory

ConfigFactory.parse_string('foo: {bar: []}\nfoo.bar += []')
