import networkx as nx
G = nx.Graph()
G.add_nodes_from(range(5))
nx.algorithms.smallworld.random_reference(G)
