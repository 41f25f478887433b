# Runs the listed tests in order, each `file function`, and writes how each ended: `P n`, `F n what`. One that hangs ends the process.
import importlib.util
import os
import pathlib
import signal
import sys

listed, results, folder, sources, limit, folders = sys.argv[1:7]
limit = int(limit) / 1000.0
# This folder is ours; the program's modules are not looked for in it.
sys.path[:1] = [p for p in folders.split(':') if p]
sys.argv[1:] = []
modules = {}


def load(name):
    if name not in modules:
        spec = importlib.util.spec_from_file_location(name, os.path.join(sources, name + '.py'))
        modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[name])
    return modules[name]


def outcome(index, name, function):
    try:
        test = getattr(load(name), function)
        place = pathlib.Path(folder, str(index))
        if test.__code__.co_argcount:
            place.mkdir(parents=True)
        test(*[place] * test.__code__.co_argcount)
        return 'P %d' % index
    except BaseException as error:
        try:
            message = str(error)
        except BaseException:
            message = ''
        kind = type(error)
        home = '' if kind.__module__ == 'builtins' else kind.__module__ + '.'
        shown = ''.join(c if ' ' <= c <= '~' else '?' for c in message[:200])
        return 'F %d %s%s%s' % (index, home, kind.__qualname__, ': ' + shown if shown else '')


out = os.open(results, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
with open(listed, encoding='utf-8') as lines:
    tests = lines.read().split('\n')
here = os.getcwd()
for index, line in enumerate(tests):
    if line:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        # Also a loop in C is ended by it.
        signal.setitimer(signal.ITIMER_REAL, limit)
        ended = outcome(index, *line.split(' '))
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(out, (ended + '\n').encode('ascii'))
        os.chdir(here)
os._exit(0)
