"""Exceptions as the parent knows them: names, messages, and frames by the type that each code object belongs to. Part of the worker and of the confirmation."""
import itertools
import os

MAX_MESSAGE = 4096
MAX_CHAIN = 20
MAX_FRAMES = 1500
HARNESS = ('_pytest', 'pluggy', 'pytest')


class Stopped(BaseException):
    """Ends a test; programs have no reason to catch it, and if they do, the flags of `Limits` decide."""


class Places:
    """What to call the code objects of a traceback."""

    def __init__(self, stdlib, site, codes, own):
        """`codes`: by resolved path, {(first line, name): class}; `own`: files whose frames are not the program's business."""
        self.own = own
        self.stdlib = tuple(p.rstrip('/') + '/' for p in stdlib)
        self.site = tuple(p.rstrip('/') + '/' for p in site)
        self.codes = codes
        self.known = {}
        self.files = {}

    def of(self, frame):
        """(class, method, file, is platform)"""
        code = frame.f_code
        found = self.known.get(id(code))
        if found is None:
            found = (code, self.describe(code, frame.f_globals))
            self.known[id(code)] = found
        return found[1]

    def describe(self, code, env):
        path = code.co_filename
        module = env.get('__name__')
        module = module if type(module) is str else ''
        table = self.codes.get(self.real(path))
        owner = table.get((code.co_firstlineno, code.co_name)) if table else None
        if code.co_name == '<module>':
            # Its first line depends on the version.
            owner = next((c for (_, name), c in table.items() if name == '<module>'), module) if table else module
        elif owner is None:
            classes = innermost_class(getattr(code, 'co_qualname', '').split('.')[:-1])
            owner = module + ':' + classes if classes else module
        return owner, code.co_name, path, table is None and self.platform(path, module)

    def real(self, path):
        found = self.files.get(path)
        if found is None:
            found = self.files[path] = path if path.startswith('<') else os.path.realpath(path)
        return found

    def platform(self, path, module):
        if path.startswith('<') or module.partition('.')[0] in HARNESS:
            return True
        both = (path, self.real(path))
        inside = any(p.startswith(self.stdlib) for p in both)
        return inside and not any(p.startswith(self.site) or '/site-packages/' in p or '/dist-packages/' in p for p in both)


def innermost_class(parts):
    """`A.B` of `A.B.f.<locals>.g` without its last name: what stands directly before `<locals>` is a function."""
    best = []
    here = []
    for i, part in enumerate(parts):
        if part == '<locals>':
            here = []
        elif i + 1 < len(parts) and parts[i + 1] == '<locals>':
            continue
        else:
            here.append(part)
            best = list(here)
    return '.'.join(best)


def exception_name(kind):
    module = getattr(kind, '__module__', None)
    name = getattr(kind, '__qualname__', None) or kind.__name__
    return name if module in ('builtins', '__main__', None) or type(module) is not str else module + '.' + name


def frames_of(traceback, places):
    """Innermost first, without those of `places.own`."""
    found = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename not in places.own:
            owner, method, path, platform = places.of(traceback.tb_frame)
            found.append((owner, method, path, traceback.tb_lineno or 0, platform))
        traceback = traceback.tb_next
    found.reverse()
    return found[:MAX_FRAMES]


def chain_of(error, places):
    """The exception and what it came from, as a traceback prints it."""
    links = []
    met = []
    while error is not None and len(links) < MAX_CHAIN and not any(error is m for m in met):
        met.append(error)
        try:
            message = str(error)[:MAX_MESSAGE]
        except Stopped:
            raise
        except BaseException:
            message = None
        links.append((exception_name(type(error)), message or None, frames_of(error.__traceback__, places)))
        following = error.__cause__
        if following is None and not error.__suppress_context__:
            following = error.__context__
        error = following if isinstance(following, BaseException) else None
    return links


#: Keys that are told of one table, and links of an exception that are looked at.
MAX_KEYS = 30
MAX_LINKS = 3


def keys_beside(error):
    """The texts that would have been found where a key was not: tables that choose what is called show no comparison."""
    found = []
    for _ in range(MAX_LINKS):
        if isinstance(error, KeyError) and error.args and type(error.args[0]) is str and error.__traceback__ is not None:
            found.extend(known_keys(error.args[0], error.__traceback__))
        error = error.__cause__ or error.__context__
        if error is None:
            break
    return found


def known_keys(missing, traceback):
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    values = list(frame.f_locals.values()) + [frame.f_globals.get(name) for name in frame.f_code.co_names]
    try:
        values.extend(dict.values(object.__getattribute__(frame.f_locals.get('self'), '__dict__')))
    except (AttributeError, TypeError):
        pass
    for table in values:
        if isinstance(table, dict) and not dict.__contains__(table, missing):
            for key in itertools.islice(dict.__iter__(table), MAX_KEYS):
                if type(key) is str and key:
                    yield key
                    yield missing, key
