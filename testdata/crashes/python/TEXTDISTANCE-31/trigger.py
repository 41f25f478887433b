import textdistance

textdistance.Levenshtein().normalized_similarity('', '')
