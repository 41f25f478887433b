from markdown_it import MarkdownIt
md = MarkdownIt("gfm-like")
md.render("> QUOTE\n+ UNORDERED LIST ITEM\n  > INDENTED QUOTE\n\n\n")
