from dicttoxml import dicttoxml

dicttoxml('name', custom_root='report', attr_type=False)
