from prettytable import PrettyTable

table = PrettyTable(['a', 'b'])
table.add_rows([])
