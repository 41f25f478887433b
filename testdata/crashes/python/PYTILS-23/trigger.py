import pytils

pytils.numeral.in_words_float(1e-5)
