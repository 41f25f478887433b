import marko
marko.convert("[](")
