import num2words
num2words.num2words(1000000000, lang='dk')
