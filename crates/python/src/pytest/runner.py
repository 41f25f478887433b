

# Runs one test function and writes what it raises; `frames.py` of the worker stands before this.
import importlib.util
import pathlib
import sys


def paths(text):
    return [p for p in text.split(':') if p]


def read_codes(path):
    codes, current = {}, {}
    with open(path, encoding='utf-8', errors='surrogateescape') as lines:
        for line in lines:
            fields = line.rstrip('\n').split('\t')
            if len(fields) == 4:
                current[int(fields[1]), fields[2]] = fields[3]
            else:
                current = codes.setdefault(os.path.realpath(fields[0]), {})
    return codes


def escape(value):
    out = []
    for c in value:
        if ' ' <= c <= '~' and c != '\\':
            out.append(c)
        else:
            units = c.encode('utf-16-be', 'surrogatepass')
            out.extend('\\u%02x%02x' % (units[i], units[i + 1]) for i in range(0, len(units), 2))
    return ''.join(out)


def report(result, error, places):
    lines = ['RETURNED' if error is None else 'THROWN']
    for name, message, frames in chain_of(error, places) if error is not None else ():
        lines.append('T\t' + escape(name) + ('' if message is None else '\t' + escape(message)))
        for owner, method, path, line, platform in frames:
            lines.append('F\t%s\t%s\t%d\t%d\t%s' % (escape(owner), escape(method), line, platform, escape(path)))
    lines.append('END')
    with open(result, 'w', encoding='ascii') as out:
        out.write('\n'.join(lines) + '\n')


class Watcher:
    """A plugin that keeps what was raised."""
    error = None

    def pytest_exception_interact(self, node, call, report):
        if self.error is None and call.excinfo is not None:
            self.error = call.excinfo.value
            # A module that cannot be imported: the reason is what counts.
            if type(self.error).__name__ == 'CollectError' and self.error.__cause__ is not None:
                self.error = self.error.__cause__


def under_pytest(file, function, folder):
    import pytest
    watcher = Watcher()
    options = ['-q', '-p', 'no:cacheprovider', '-p', 'no:faulthandler', '--tb=no', '--import-mode=importlib', '-c', os.path.join(os.path.dirname(file), 'pytest.ini'),
               '--basetemp=' + folder]
    status = pytest.main(options + ['%s::%s' % (file, function)], plugins=[watcher])
    return watcher.error, watcher.error is not None or status == 0


def directly(file, function, folder):
    try:
        spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        test = getattr(module, function)
        os.makedirs(folder, exist_ok=True)
        test(*[pathlib.Path(folder)] * test.__code__.co_argcount)
    except BaseException as error:
        return error, True
    return None, True


def main():
    result, mode, file, function, codes, folder, stdlib, site, sources = sys.argv[1:10]
    places = Places(paths(stdlib), paths(site), read_codes(codes), (__file__, file))
    # This folder is ours; the program's modules are not looked for in it.
    sys.path[:1] = paths(sources)
    sys.argv[1:] = []
    error, told = (under_pytest if mode == 'pytest' else directly)(file, function, folder)
    if told:
        report(result, error, places)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if told else 1)


main()
