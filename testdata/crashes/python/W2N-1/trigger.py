from word2number import w2n

w2n.word_to_num('coucou')
