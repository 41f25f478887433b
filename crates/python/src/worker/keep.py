"""Objects that take long to make (a registry of units, the tables of a parser) are made once, in the server: every fork finds them as new.

A fork uses each of them once; the next test that wants it gets a fork of its own. What making them showed is told again with every test that uses them.
A call that takes long to fail is kept as well, by what it threw. Pristine tests make their own.
"""
#: A call that takes longer, in seconds, is worth more than a fork.
SLOW = 0.015
#: Objects that are kept.
MAX_KEPT = 12
#: Slow calls that are counted; one that comes a second time is kept.
MAX_COUNTED = 500
#: Statements that change nothing which others see.
QUIET = frozenset(('data', 'value', 'null', 'class'))
#: Data without identity: numbers, texts, and lists, tuples, sets and dictionaries of them, and what is left out.
MAX_PLAIN, ABSENT_DATA = 9, 11


class Failed(BaseException):
    """What a call threw when it was made beforehand."""

    def __init__(self, chain):
        self.chain = chain


def is_plain(data):
    kind, inside = data
    if kind < 6 or kind == ABSENT_DATA:
        return True
    if kind < MAX_PLAIN:
        return all(map(is_plain, inside))
    return kind == MAX_PLAIN and all(is_plain(k) and is_plain(v) for k, v in inside)


def plain_arguments(stmts, at):
    """What the statement calls something with, if that is plain data and nothing was done before."""
    given = [stmts[v] for v in stmts[at][3]]
    if all(s[0] in QUIET for s in stmts[:at]) and all(s[0] == 'data' and is_plain(s[1]) for s in given):
        return [s[1] for s in given]
    return None


class Kept:
    """The objects that are kept, by the call that made them."""

    def __init__(self):
        self.made = {}
        self.times = {}
        self.count = 0

    def ready(self, stmts, at):
        """(object, what making it showed) for the call; nothing if it is not there. An object is taken out, a failure stays."""
        found = self.made.get(stmts[at][1])
        given = plain_arguments(stmts, at) if found else None
        ready = found.get(repr(given)) if given is not None else None
        if ready is not None and type(ready[0]) is not Failed:
            del found[repr(given)]
        return ready

    def wants(self, method, given):
        """Whether a slow call has come often enough."""
        key = (method, repr(given))
        times = self.times.get(key, 0) + 1
        if times > 1 or len(self.times) < MAX_COUNTED:
            self.times[key] = times
        return times == 2 and self.count < MAX_KEPT

    def keep(self, method, given, made):
        self.count += 1
        self.made.setdefault(method, {})[repr(given)] = made
