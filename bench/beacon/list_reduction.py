"""Lists that are built up and summed up: the module of Beacon's first experiment, written anew.

`append` hands on what `list.append` returns, which is nothing, so that whoever goes on with its result crashes. A single call cannot show that: numbers
and texts are taken for lists of one element.
"""


def create(value):
    return [value]


def append(values, value):
    values = _as_list(values)
    return values.append(value)


def reduction(values):
    if isinstance(values, (int, str)):
        return values
    rest = values.copy()
    total = 0
    while rest:
        first = rest.pop()
        total += first if isinstance(first, int) else len(str(first))
    return total


def _as_list(values):
    return [values] if isinstance(values, (int, str)) or values is None else list(values)
