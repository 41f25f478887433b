from tinycss2.nth import parse_nth
parse_nth("2n +")
