import html5lib
html5lib.parse(b')<a><math><TR><a><mI><a><p><a>')
