"""Test support: modules with and without probes, side by side. Arguments: the worker's sources, then files; prints what differs."""
import importlib
import io
import os
import sys
import types

sys.setrecursionlimit(5000)
folder = sys.argv[1]
source = ''.join(open(os.path.join(folder, name), encoding='utf-8').read() for name in ('codec.py', 'frames.py', 'record.py', 'instrument.py'))
worker = {'__name__': 'worker'}
exec(compile(source, '<rethrow>', 'exec'), worker)


class Every(dict):
    """Numbers for whatever place is asked for."""

    def get(self, key, default=None):
        return self.setdefault(key, len(self))


SIZE = 200000
begin, read, _, _ = worker['make_recorder'](SIZE, SIZE)


def with_probes(data, path):
    return worker['instrumented'](data, path, Every(), Every())


def lines(error):
    found, tb = [], error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename not in ('<rethrow>', __file__):
            found.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    return found


def observe(code, path):
    module = types.ModuleType('subject')
    module.__file__ = path
    sys.modules['subject'] = module
    seen = {}
    exec(code, module.__dict__)
    seen['<names>'] = repr(sorted(n for n in vars(module) if n != '__builtins__'))
    for name in [n for n in vars(module) if n.startswith('case_')]:
        module.log.clear()
        try:
            seen[name] = repr(getattr(module, name)())
        except Exception as error:
            seen[name] = '%s %s %r' % (type(error).__name__, error, lines(error))
        seen[name] += ' log ' + repr(module.log)
    return seen


def cases(path):
    data = open(path, 'rb').read()
    plain = observe(compile(data, path, 'exec', dont_inherit=True), path)
    begin(None)
    probed = observe(with_probes(data, path), path)
    hits, branches, _, _ = read()
    for name in plain:
        if plain[name] != probed[name]:
            print('DIFFERS %s %s\n  plain  %s\n  probed %s' % (os.path.basename(path), name, plain[name], probed[name]))
    print('CASES %s %d %d %d' % (os.path.basename(path), len(plain), len(hits), len(branches)))


def library(folder):
    """All of the standard library compiles with probes, and keeps its names, docstrings and lines."""
    paths = []
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        paths.extend(os.path.join(base, name) for name in sorted(files) if name.endswith('.py'))
    # A part of it, different for each version.
    paths = paths[sys.version_info[1] % STRIDE::STRIDE]
    for path in paths:
        data = open(path, 'rb').read()
        compare(compile(data, path, 'exec', dont_inherit=True), with_probes(data, path), path)
    print('LIBRARY', len(paths))


STRIDE = 13
SKIPPED = ('test', 'tests', 'site-packages', 'dist-packages', 'idle_test', 'idlelib', 'lib2to3', '__pycache__', 'turtledemo', '__phello__')


def shape(code):
    # Before 3.10 the first line of a module is that of its first instruction.
    first = 0 if code.co_name == '<module>' else code.co_firstlineno
    return code.co_name, first, code.co_argcount, code.co_kwonlyargcount, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags


def inner(code):
    found = [c for c in code.co_consts if hasattr(c, 'co_code')]
    return sorted(found, key=lambda c: (c.co_firstlineno, c.co_name, c.co_varnames))


def compare(a, b, path):
    if shape(a) != shape(b):
        print('SHAPE %s\n  %r\n  %r' % (path, shape(a), shape(b)))
    kept = {line_of(c) for c in inner(a)} - {line_of(c) for c in inner(b)}
    if kept:
        print('LOST', path, kept)
    if len(inner(a)) == len(inner(b)):
        for x, y in zip(inner(a), inner(b)):
            compare(x, y, path)


def line_of(code):
    return code.co_firstlineno, code.co_name


def imports():
    """Modules of the library that run with probes as they do without."""
    import json, json.decoder, json.scanner, textwrap, shlex, string, html.parser, configparser, csv, fnmatch, heapq, statistics, urllib.parse, difflib
    tasks = [
        ('textwrap', lambda m: m.fill('the quick brown fox ' * 9, 30)),
        ('shlex', lambda m: m.split('a "b c" d\'e\' \\f #g')),
        ('json.decoder', lambda m: m.JSONDecoder().decode('{"a": [1, 2.5, null, "\\u00e9"]}')),
        ('string', lambda m: (m.Template('$a $$ ${b}').substitute(a=1, b=2), m.Formatter().format('{0!r:>5} {x[1]}', 'a', x='yz'))),
        ('html.parser', lambda m: repr(m.HTMLParser().feed('<p a=b>x</p><!-- c --><br/>&amp;'))),
        ('configparser', lambda m: parsed(m)),
        ('fnmatch', lambda m: (m.translate('a[!b]*?'), m.filter(['ab', 'ac'], 'a[!b]'))),
        ('statistics', lambda m: (m.median([3, 1, 2]), m.mode('aab'), m.stdev([1, 2, 4]))),
        ('urllib.parse', lambda m: (m.urlsplit('http://u:p@h:1/p;x?q=1#f'), m.quote('a b/\u00e9'), m.parse_qs('a=1&a=2&b='), m.urljoin('http://a/b/c', '../d'))),
        ('difflib', lambda m: list(m.unified_diff(['a', 'b', 'c'], ['a', 'x', 'c'], lineterm=''))),
        ('heapq', lambda m: (m.nsmallest(2, [3, 1, 2]), list(m.merge([1, 3], [2])), m.nlargest(2, [3, 1, 2]))),
    ]

    def parsed(m):
        p = m.ConfigParser()
        p.read_string('[a]\nx = 1\ny: %(x)s2\n')
        return {s: dict(p[s]) for s in p.sections()}

    def outcome(task, module):
        try:
            return repr(task(module))
        except Exception as error:
            return '%s %s %r' % (type(error).__name__, error, lines(error))
    for name, task in tasks:
        plain = importlib.import_module(name)
        expected = outcome(task, plain)
        data = open(plain.__file__, 'rb').read()
        probed = types.ModuleType(name)
        probed.__file__, probed.__package__, probed.__spec__ = plain.__file__, plain.__package__, plain.__spec__
        sys.modules[name] = probed
        begin(None)
        exec(with_probes(data, plain.__file__), probed.__dict__)
        got = outcome(task, probed)
        sys.modules[name] = plain
        if got != expected:
            print('DIFFERS %s\n  plain  %s\n  probed %s' % (name, expected, got))
        print('RAN', name)


for path in sys.argv[2:]:
    if os.path.isdir(path):
        library(path)
    else:
        cases(path)
imports()
