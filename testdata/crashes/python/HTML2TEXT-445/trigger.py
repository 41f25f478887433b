import html2text

parser = html2text.HTML2Text()
parser.pad_tables = True
parser.handle('<table><table></table></table>')
