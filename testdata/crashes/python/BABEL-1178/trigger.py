from babel.dates import parse_date

parse_date('2005-12-31T01:02:03Z', locale='en_US')
