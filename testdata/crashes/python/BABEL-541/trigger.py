import babel.dates

babel.dates.parse_date('2017. nov. 11.', locale='hu')
