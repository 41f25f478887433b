from dicttoxml import dicttoxml

dicttoxml(None)
