import mistune
mistune.markdown('>' * 1000)
