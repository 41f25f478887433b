from dateutil.parser import parse

parse('30/062012')
