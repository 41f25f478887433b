from pycparser.c_parser import CParser

CParser().parse('typedef struct { enum { A = 1 }; } foo;')
