"""What the instrumented code calls: places reached, how near conditions came to their other side, values that comparisons saw.

Every function returns what the plain expression would have given, and runs no code of the program that the plain expression would not run. Distances are
worked out for values of built-in types only, and a limited number of times for each condition of a test.
"""
import builtins
import itertools
import operator
import re
import sys

BUDGET = 24
MAX_SEEN = 128
MAX_SEEN_TEXT = 80
MAX_COMPARED = 24
#: Looks at who called, for each frame of the trace in one test; and frames looked at for each of the trace's: the platform's stand between them.
MAX_WALKS = 24
PER_FRAME, BESIDE = 3, 16
OTHER_TYPE = 100.0
NEAREST = 1e-3
NUMBERS = frozenset((int, float, bool))
SIZED = frozenset((str, bytes, list, tuple, dict, set, frozenset))
BUILTIN_METHOD = type(''.isdigit)
TEXT_TESTS = frozenset(('isdigit', 'isalpha', 'isalnum', 'isspace', 'isupper', 'islower', 'isdecimal', 'isnumeric', 'isidentifier', 'istitle', 'isascii',
                        'isprintable'))
TEXT_METHODS = TEXT_TESTS | {'startswith', 'endswith'}
PATTERN_METHODS = frozenset(('match', 'search', 'fullmatch', 'findall', 'sub', 'subn'))
#: Patterns told for one test, and how long they and the texts that do not fit may be.
MAX_UNFIT, MAX_UNFIT_TEXT, MAX_UNFIT_PATTERN = 24, 200, 1000
PATTERN_TYPE = type(re.compile(''))
FUNCTION_TYPE = type(lambda: None)


class Limits:
    steps = False
    time = False
    exit = None


def make_recorder(points, branches, chain=(), places=None):
    """The table of helpers by their names in instrumented code, and functions to begin and read a test.

    `chain`: the frames of the trace, innermost first, each as (points, class, method, line); `places` tells what frames of the stack are called.
    """
    hits = [0] * points
    # The nearest so far, 0 for none.
    up = [0.0] * branches
    down = [0.0] * branches
    left = [BUDGET] * branches
    no_hits, no_seen, full = [0] * points, [0.0] * branches, [BUDGET] * branches
    every_point, every_branch = range(points), range(branches)
    written = [number(n) for n in every_branch]
    seen = {}
    unfit = {}
    safe = {}
    near = {}

    reach, walks = [0] * len(chain), [0] * len(chain)
    by_point = {}
    for at, frame in enumerate(chain):
        for n in frame[0]:
            by_point.setdefault(n, []).append(at)

    def c(n):
        """A line of the trace is reached: through which of its frames (BBC-3)?"""
        hits[n] = 1
        for at in by_point[n]:
            if walks[at] < MAX_WALKS and reach[at] < len(chain):
                walks[at] += 1
                reach[at] = max(reach[at], outermost(sys._getframe(1).f_back, at))

    def outermost(frame, at):
        """The number, from 1, of the last frame of the trace that stands on the stack without a gap."""
        found = at + 1
        for _ in range((len(chain) - at) * PER_FRAME + BESIDE):
            if frame is None or found == len(chain):
                break
            if frame.f_code.co_filename not in places.own:
                owner, method, _, platform = places.of(frame)
                if not platform:
                    if (owner, method) != chain[found][1:3] or chain[found][3] not in (0, frame.f_lineno):
                        break
                    found += 1
            frame = frame.f_back
        return found

    def see(value):
        if len(seen) < MAX_SEEN and len(value) <= MAX_SEEN_TEXT:
            seen[value] = None

    def see_both(a, b):
        see(a)
        see(b)
        if a and b and len(seen) < MAX_SEEN and len(a) <= MAX_SEEN_TEXT and len(b) <= MAX_SEEN_TEXT:
            seen[(a, b)] = None

    def see_int(value):
        if len(seen) < MAX_SEEN:
            seen[value] = None

    def edit(a, b):
        key = (a, b)
        found = near.get(key)
        if found is None:
            found = edit_distance(a, b)
            if len(near) < 4096:
                near[key] = found
        return found

    def apart(a, b):
        """How far two unequal values are from equal."""
        ta, tb = type(a), type(b)
        if ta is str and tb is str:
            see_both(a, b)
            return edit(a, b)
        if ta in NUMBERS and tb in NUMBERS:
            if ta is int:
                see_int(a)
            if tb is int:
                see_int(b)
            return gap(a, b) or 1.0
        if ta is bytes and tb is bytes:
            a, b = a.decode('latin-1'), b.decode('latin-1')
            see_both(a, b)
            return edit(a, b)
        if ta is tb and (ta is tuple or ta is list):
            return float(abs(len(a) - len(b))) + 1.0
        if ta is str:
            see(a)
        elif tb is str:
            see(b)
        return OTHER_TYPE if ta in SIMPLE or tb in SIMPLE else 1.0

    def truth_is_plain(kind):
        """Testing the truth of such a value twice is the same as testing it once."""
        found = safe.get(id(kind))
        if found is None:
            plain = True
            for name in ('__bool__', '__len__'):
                holder = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
                if holder is not None:
                    plain = type(holder) is SLOT
                    break
            found = safe[id(kind)] = (kind, plain)
        return found[1]

    def truly(n, value):
        k = left[n]
        if k:
            left[n] = k - 1
            kind = type(value)
            if kind in SIZED:
                d = float(len(value))
            elif kind is int or kind is float:
                d = gap(value, 0) or 1.0
            else:
                d = 1.0
            if not up[n] or d < up[n]:
                up[n] = d
        elif not up[n]:
            up[n] = 1.0

    def b(n, value):
        """The truth of a value that is only tested."""
        if value is True:
            up[n] = 1.0
            return True
        if value is False or value is None:
            down[n] = 1.0
            return False
        if value:
            truly(n, value)
            return True
        down[n] = 1.0
        return False

    def t(n, value):
        """A value that is tested and may be kept."""
        if value is True:
            up[n] = 1.0
        elif value is False or value is None:
            down[n] = 1.0
        elif truth_is_plain(type(value)):
            if value:
                truly(n, value)
            else:
                down[n] = 1.0
        return value

    def eq(n, a, b):
        r = a == b
        if r is True:
            up[n] = 1.0
            return True
        if r is False:
            k = left[n]
            if k:
                left[n] = k - 1
                d = apart(a, b)
                if not down[n] or d < down[n]:
                    down[n] = d
            return False
        return t(n, r)

    def ne(n, a, b):
        r = a != b
        if r is True:
            k = left[n]
            if k:
                left[n] = k - 1
                d = apart(a, b)
                if not up[n] or d < up[n]:
                    up[n] = d
            return True
        if r is False:
            down[n] = 1.0
            return False
        return t(n, r)

    def ordered(n, r, a, b, more):
        """`more` is added to the distance that `r` has to be undone by."""
        if r is not True and r is not False:
            return t(n, r)
        k = left[n]
        side = up if r else down
        if k:
            left[n] = k - 1
            ta, tb = type(a), type(b)
            if ta in NUMBERS and tb in NUMBERS:
                if ta is int:
                    see_int(a)
                if tb is int:
                    see_int(b)
                d = gap(a, b) + more or NEAREST
            elif ta is str and tb is str and len(a) == len(b) == 1:
                d = abs(ord(a) - ord(b)) + more
            else:
                d = 1.0
            if not side[n] or d < side[n]:
                side[n] = d
        elif not side[n]:
            side[n] = 1.0
        return r

    def lt(n, a, b):
        r = a < b
        return ordered(n, r, a, b, 0.0 if r is True else 1.0)

    def le(n, a, b):
        r = a <= b
        return ordered(n, r, a, b, 1.0 if r is True else 0.0)

    def gt(n, a, b):
        r = a > b
        return ordered(n, r, a, b, 0.0 if r is True else 1.0)

    def ge(n, a, b):
        r = a >= b
        return ordered(n, r, a, b, 1.0 if r is True else 0.0)

    def is_(n, a, b):
        r = a is b
        if r:
            up[n] = 1.0
        else:
            down[n] = 1.0
        return r

    def isnot(n, a, b):
        r = a is not b
        if r:
            up[n] = 1.0
        else:
            down[n] = 1.0
        return r

    def absent(a, b):
        """How far `a` is from being in `b`."""
        ta, tb = type(a), type(b)
        if tb is str:
            if ta is not str:
                return OTHER_TYPE
            see(a)
            size = len(a) - 1
            while size > 0 and a[:size] not in b:
                size -= 1
            return float(len(a) - size)
        if tb is bytes and ta is bytes:
            return absent(a.decode('latin-1'), b.decode('latin-1'))
        if tb not in SIZED or tb is bytes:
            return 1.0
        best = OTHER_TYPE
        for item in itertools.islice(b, 32):
            kind = type(item)
            if kind in SIMPLE:
                d = apart(a, item) if kind is ta else OTHER_TYPE
                if kind is not ta and kind is str:
                    see(item)
                if d < best:
                    best = d
        return best

    def in_(n, a, b):
        r = a in b
        if r:
            up[n] = 1.0
        else:
            k = left[n]
            if k:
                left[n] = k - 1
                d = absent(a, b)
                if not down[n] or d < down[n]:
                    down[n] = d
        return r

    def notin(n, a, b):
        r = a not in b
        if r:
            k = left[n]
            if k:
                left[n] = k - 1
                d = absent(a, b)
                if not up[n] or d < up[n]:
                    up[n] = d
        else:
            down[n] = 1.0
        return r

    def m(n, method, *args):
        """A test that texts have as a method."""
        r = method(*args)
        if r is True:
            up[n] = 1.0
            return True
        if r is not False:
            return t(n, r)
        k = left[n]
        if k:
            left[n] = k - 1
            d = 1.0
            if type(method) is BUILTIN_METHOD and type(method.__self__) in TEXT_TYPES:
                d = text_test(method.__self__, method.__name__, args, see_both)
            if not down[n] or d < down[n]:
                down[n] = d
        elif not down[n]:
            down[n] = 1.0
        return False

    def ch(n, ops, *values):
        """A chain of comparisons all of whose later operands are constants."""
        least = INF
        for i, op in enumerate(ops):
            a, b = values[i], values[i + 1]
            r = COMPARE[op](a, b)
            k = left[n]
            d = 1.0
            if k:
                left[n] = k - 1
                if type(a) in NUMBERS and type(b) in NUMBERS:
                    d = gap(a, b) or 1.0
                elif type(a) is str and type(b) is str:
                    d = float(abs(ord(a) - ord(b))) if len(a) == len(b) == 1 else edit(a, b)
                    d = d or 1.0
            if not r:
                if not down[n] or d < down[n]:
                    down[n] = d
                return r
            if d < least:
                least = d
        if not up[n] or least < up[n]:
            up[n] = least
        return r

    def p(method, *args, **named):
        """A text is looked at with a pattern."""
        r = method(*args, **named)
        if (r is None or (type(r) is list and not r) or any(r is given for given in args[1:])) and len(unfit) < MAX_UNFIT:
            see_unfit(method, args)
        return r

    def see_unfit(method, args):
        """A text that a pattern was not found in."""
        # Since 3.10 they are of a class below.
        if issubclass(type(method), BUILTIN_METHOD) and type(method.__self__) is PATTERN_TYPE:
            pattern = method.__self__.pattern
        elif type(method) is FUNCTION_TYPE and method.__module__ == 're' and len(args) > 1:
            pattern, args = args[0].pattern if type(args[0]) is PATTERN_TYPE else args[0], args[1:]
        else:
            return
        looked_at = args[1] if method.__name__ in ('sub', 'subn') and len(args) > 1 else args[0]
        if type(pattern) is bytes and type(looked_at) is bytes:
            pattern, looked_at = pattern.decode('latin-1'), looked_at.decode('latin-1')
        if type(pattern) is str and type(looked_at) is str and len(pattern) <= MAX_UNFIT_PATTERN and len(looked_at) <= MAX_UNFIT_TEXT:
            unfit[(looked_at, pattern)] = None

    def begin(steps):
        hits[:] = no_hits
        up[:] = no_seen
        down[:] = no_seen
        left[:] = full
        seen.clear()
        unfit.clear()
        reach[:] = walks[:] = [0] * len(chain)
        limit(steps)

    def limit(steps):
        rounds = itertools.repeat(0) if steps is None else itertools.chain(itertools.repeat(0, steps), map(spent, itertools.repeat(0)))
        builtins._rt_s = rounds.__next__

    def spent(_):
        Limits.steps = True
        raise Stopped()

    def read():
        """(hits, branches, seen, reach), written as the protocol has them."""
        limit(None)
        found = list(itertools.compress(every_point, hits))
        found[1:] = map(operator.sub, found[1:], found)
        places = set(itertools.compress(every_branch, up))
        places.update(itertools.compress(every_branch, down))
        touched = []
        for n in sorted(places):
            u, d = up[n], down[n]
            above = WRITTEN.get(u) or distance(max(u, NEAREST))
            touched.append(written[n] + above + (ONCE + (WRITTEN.get(d) or distance(d)) if d else NEVER))
        values = []
        for value in seen:
            if type(value) is str:
                values.append(b'\1' + text(value))
            elif type(value) is tuple:
                values.append(b'\2' + text(value[0]) + text(value[1]))
            elif -1 << 63 <= value < 1 << 63:
                values.append(b'\0' + signed(value))
        values.extend(b'\3' + text(looked_at) + text(pattern) for looked_at, pattern in unfit)
        return numbers(found), many(touched), many(values), numbers(reach)

    def show():
        """What was noted so far, to be noted again."""
        near = [(n, up[n], down[n]) for n in every_branch if up[n] or down[n]]
        return list(itertools.compress(every_point, hits)), near, list(seen)

    def again(shown):
        """Notes what another test showed."""
        reached, near, values = shown
        for n in reached:
            hits[n] = 1
        for n, u, d in near:
            up[n] = min(u, up[n]) if u and up[n] else u or up[n]
            down[n] = min(d, down[n]) if d and down[n] else d or down[n]
        for value in values:
            if len(seen) < MAX_SEEN:
                seen[value] = None

    helpers = dict(_rt_h=hits, _rt_u=up, _rt_d=down, _rt_us=up.__setitem__, _rt_b=b, _rt_t=t, _rt_eq=eq, _rt_ne=ne, _rt_lt=lt, _rt_le=le, _rt_gt=gt,
                   _rt_ge=ge, _rt_is=is_, _rt_isnot=isnot, _rt_in=in_, _rt_notin=notin, _rt_m=m, _rt_ch=ch, _rt_c=c,
                   _rt_p=p)
    for name, helper in helpers.items():
        setattr(builtins, name, helper)
    limit(None)
    return begin, read, show, again


#: How the most frequent distances are written, and what stands between those to either side: nothing below, whether it was false.
WRITTEN = dict([(0.0, NO_DISTANCE)] + [(float(i), distance(float(i))) for i in range(1, 128)])
NEVER, ONCE = NO_DISTANCE + b'\0' + NO_DISTANCE, NO_DISTANCE + b'\1'
SIMPLE = frozenset((str, int, float, bytes, bool))
TEXT_TYPES = frozenset((str, bytes))
SLOT = type(object.__repr__)
COMPARE = {
    'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b, 'gt': lambda a, b: a > b, 'ge': lambda a, b: a >= b, 'eq': lambda a, b: a == b,
    'ne': lambda a, b: a != b, 'is': lambda a, b: a is b, 'isnot': lambda a, b: a is not b, 'in': lambda a, b: a in b, 'notin': lambda a, b: a not in b,
}


def gap(a, b):
    try:
        d = float(abs(a - b))
    except OverflowError:
        return 1e300
    return d if d == d else 1.0


def edit_distance(a, b):
    """Characters to insert, delete or replace; of long texts what is left without the common beginning and end counts in full."""
    start, end_a, end_b = 0, len(a), len(b)
    while start < end_a and start < end_b and a[start] == b[start]:
        start += 1
    while end_a > start and end_b > start and a[end_a - 1] == b[end_b - 1]:
        end_a -= 1
        end_b -= 1
    a, b = a[start:end_a], b[start:end_b]
    if len(a) > len(b):
        a, b = b, a
    if len(a) <= 1:
        return float(len(b) - (a != '' and a in b)) or 1.0
    if len(b) > MAX_COMPARED:
        return float(len(b))
    row = list(range(len(a) + 1))
    for i, x in enumerate(b):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(a):
            best = diagonal + (x != y)
            diagonal = row[j + 1]
            other = (row[j] if row[j] < diagonal else diagonal) + 1
            row[j + 1] = best if best < other else other
    return float(row[-1])


def as_text(value):
    """Bytes as a text of as many characters."""
    if type(value) is tuple:
        return tuple(as_text(v) for v in value)
    return value.decode('latin-1') if type(value) is bytes else value


def text_test(value, name, args, see_both):
    value, args = as_text(value), as_text(args)
    if name == 'startswith' or name == 'endswith':
        wanted = args[0] if args else ''
        best = OTHER_TYPE
        for part in wanted if type(wanted) is tuple else (wanted,):
            if type(part) is str:
                have = value[:len(part)] if name == 'startswith' else value[-len(part):]
                see_both(have, part)
                best = min(best, float(sum(x != y for x, y in zip(have, part)) + len(part) - len(have)) or 1.0)
        return best
    if name in TEXT_TESTS and value:
        return float(sum(not getattr(c, name)() for c in value[:64])) or 1.0
    return 1.0
