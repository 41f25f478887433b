import pint
ureg = pint.UnitRegistry()
ureg('-')
