import networkx

networkx.from_graph6_bytes(b'')
