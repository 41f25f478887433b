import networkx

networkx.parse_adjlist([' ', 'a b'])
