import isodate

isodate.parse_datetime('2024-07-27T19:58:59.999999571Z')
