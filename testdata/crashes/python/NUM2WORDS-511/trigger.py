from num2words import num2words
num2words(55772955305950220940549447929, lang="ar")
