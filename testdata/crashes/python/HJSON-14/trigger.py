import hjson
hjson.loads("""

hello: ''''''

""")
