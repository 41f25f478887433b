"""Statements of tests: names to objects, data to values, calls."""
import importlib
import io
import keyword
import types

ABSENT = object()


#: Longer texts, and values of more parts, are told as objects.
MAX_TOLD = 400
MAX_PARTS = 40
CONTAINERS = (list, tuple, set, frozenset)


def returned(value):
    """How a test can assert a value: nothing, an object, a number, a text, or plain data as it is written."""
    kind = type(value)
    if value is ABSENT:
        return None
    if value is None:
        return b'\0'
    if kind is bool:
        return b'\2\0' + (b'\1' if value else b'\0')
    if kind is int and -1 << 63 <= value < 1 << 63:
        return b'\2\5' + signed(value)
    if kind is float and value == value:
        return b'\2\7' + number(struct.unpack('<Q', struct.pack('<d', value))[0])
    if kind is str and len(value) <= MAX_TOLD and not any('\ud800' <= c <= '\udfff' for c in value):
        return b'\3' + text(value)
    if writes_itself(value, [MAX_PARTS]):
        written = ascii(value)
        if len(written) <= MAX_TOLD:
            return b'\4' + text(written)
    return b'\1'


def writes_itself(value, left):
    """Whether what is written of it makes an equal value."""
    kind = type(value)
    left[0] -= 1
    if left[0] < 0:
        return False
    if kind in CONTAINERS:
        return all(writes_itself(v, left) for v in value)
    if kind is dict:
        return all(writes_itself(k, left) and writes_itself(v, left) for k, v in value.items())
    if kind is int:
        return value.bit_length() <= 1000
    if kind is float:
        return value - value == 0
    return value is None or kind in (bool, str, bytes) and (kind is bool or len(value) <= MAX_TOLD)


class Invalid(Exception):
    """The statement cannot be executed as it stands."""


class Names:
    """What the parent's numbers mean."""

    def __init__(self):
        self.types = {}
        self.methods = {}
        self.fields = {}
        self.objects = {}

    def define(self, r):
        for _ in range(r.number()):
            key = r.number()
            self.types[key] = r.text()
        for _ in range(r.number()):
            key, owner, name, desc, static = r.number(), r.text(), r.text(), r.text(), bool(r.byte())
            self.methods[key] = (owner, mangled(owner, name), parameters(desc), static, desc[desc.rfind(')') + 1:])
        for _ in range(r.number()):
            key, owner, name, _, static = r.number(), r.text(), r.text(), r.text(), bool(r.byte())
            self.fields[key] = (owner, name, static)
        # Stubs are for languages that declare types.
        for _ in range(r.number()):
            r.number()
            r.many(r.number)
        prepare = r.many(r.text)
        r.many(r.text)  # broken: an import that failed leaves nothing behind
        r.number()
        return prepare

    def is_bare(self, stmt):
        """Whether it calls something without code in Python."""
        return stmt[0] == 'call' and '!' in self.methods[stmt[1]][4]

    def find(self, name):
        """The module or class of that name."""
        module, _, path = name.partition(':')
        found = import_module(module)
        for part in path.split('.') if path else ():
            found = getattr(found, part)
        return found


def import_module(name):
    module = sys.modules.get(name)
    return Importing.run(name) if module is None else module


class Importing:
    """How modules are imported during a test; replaced where a clock runs."""
    run = staticmethod(importlib.import_module)


def mangled(owner, name):
    """The name under which a class keeps what its body calls `__name`."""
    if not name.startswith('__') or name.endswith('__') or ':' not in owner:
        return name
    return '_%s%s' % (owner.rpartition(':')[2].rpartition('.')[2].lstrip('_'), name)


def parameters(desc):
    """[(name, how it is passed)] of `12(a, /, b, c=, *rest, d, **named)`."""
    inside = desc[desc.find('(') + 1:desc.rfind(')')]
    found = []
    how = 'any'
    for part in inside.split(',') if inside.strip() else ():
        part = part.strip().rstrip('=')
        if part == '/':
            found = [(name, 'positional') for name, _ in found]
        elif part == '*':
            how = 'keyword'
        elif part.startswith('**'):
            found.append((part[2:], 'named'))
        elif part.startswith('*'):
            found.append((part[1:], 'rest'))
            how = 'keyword'
        elif part:
            found.append((part, how))
    return found


def arranged(declared, given):
    """Positional and keyword arguments of a call. An argument that is absent is left out; those after it go by name."""
    args, named, skipped = [], {}, False
    if len(declared) != len(given):
        return [v for v in given if v is not ABSENT], named
    for (name, how), value in zip(declared, given):
        if value is ABSENT:
            skipped = skipped or how in ('any', 'positional')
        elif how == 'rest':
            values = list(value)
            if values and skipped:
                raise Invalid('further positional arguments after one that is left out')
            args.extend(values)
        elif how == 'named':
            for key, item in dict(value).items():
                if type(key) is not str or key in named:
                    raise Invalid('keywords must be different texts')
                named[key] = item
        elif how == 'keyword' or (skipped and how == 'any'):
            named[name] = value
        elif skipped:
            raise Invalid('a positional argument after one that is left out')
        else:
            args.append(value)
    return args, named


class Builder:
    """Makes values of data."""

    def __init__(self, folder):
        self.folder = folder
        self.files = 0

    def build(self, data, values):
        kind, inside = data
        if kind <= 5:
            return inside
        if kind == 6:
            return [self.build(d, values) for d in inside]
        if kind == 7:
            return tuple([self.build(d, values) for d in inside])
        if kind == 8:
            return set([self.build(d, values) for d in inside])
        if kind == 9:
            return {self.build(k, values): self.build(v, values) for k, v in inside}
        if kind == 10 and values[inside] is not ABSENT:
            return values[inside]
        if kind == 10 or kind == 11:
            raise Invalid('what is left out stands inside a value')
        if kind == 12:
            result = self.build(inside, values)
            return lambda *args, **named: result
        if kind == 13:
            return iter([self.build(d, values) for d in inside])
        if kind == 16:
            return types.SimpleNamespace(**{name: self.build(d, values) for name, d in inside})
        if kind == 17:
            return self.derived(inside, values)
        if kind == 18:
            return self.build(inside[0], values)(*[self.build(d, values) for d in inside[1]])
        if kind == 19:
            args = tuple([self.build(d, values) for d in inside[1]])
            return self.build(inside[0], values)[args if len(args) != 1 else args[0]]
        content = self.build(inside, values)
        if type(content) not in (str, bytes):
            raise Invalid('a file contains text or bytes')
        if kind == 14:
            return io.StringIO(content) if type(content) is str else io.BytesIO(content)
        return self.file(content)

    def derived(self, inside, values):
        """A class as a `class` statement makes it."""
        bases, members, record = inside
        if not all(name.isidentifier() and not keyword.iskeyword(name) for name, _ in members):
            raise Invalid('a member needs a name')
        made = {name: self.build(d, values) for name, d in members}
        made['__module__'] = '__main__'
        bases = tuple([self.build(d, values) for d in bases])
        made = types.new_class('Thing', bases, {}, lambda body: body.update(made))
        return import_module('dataclasses').dataclass(made) if record else made

    def file(self, content):
        self.files += 1
        path = os.path.join(self.folder, 'file%d' % self.files)
        data = content.encode('utf-8', 'surrogatepass') if type(content) is str else content
        with open(path, 'wb') as out:
            out.write(data)
        return path


def execute(stmt, values, names, builder):
    """The value of one statement."""
    kind = stmt[0]
    if kind == 'data':
        return ABSENT if stmt[1][0] == 11 else builder.build(stmt[1], values)
    if kind == 'call' or kind == 'new':
        owner, name, declared, _, mark = names.methods[stmt[1]]
        if kind == 'new':
            target = names.find(owner)
        elif name == '<module>':
            return names.find(owner)
        elif stmt[2] is None:
            target = getattr(names.find(owner), name)
        else:
            target = getattr(values[stmt[2]], name)
        if '@' in mark:
            return target
        args, named = arranged(declared, [values[v] for v in stmt[3]])
        if '*' in mark:
            return list(target(*args, **named))
        if '~' in mark:
            import asyncio
            return asyncio.run(target(*args, **named))
        return target(*args, **named)
    if kind == 'value':
        return stmt[1]
    if kind == 'null':
        return None
    if kind == 'static':
        owner, name, _ = names.fields[stmt[1]]
        return getattr(names.find(owner), name)
    if kind == 'class':
        return names.find(names.types[stmt[1]])
    if kind == 'get':
        return getattr(values[stmt[2]], names.fields[stmt[1]][1])
    if kind == 'set':
        owner, name, _ = names.fields[stmt[1]]
        setattr(names.find(owner) if stmt[2] is None else values[stmt[2]], name, values[stmt[3]])
        return None
    if kind == 'env':
        if stmt[1] != 'setting':
            raise Invalid('surroundings that are not set up in Python')
        os.environ[stmt[2]] = stmt[3]
        return None
    if kind == 'array':
        return [None] * stmt[2]
    if kind == 'put':
        values[stmt[1]][stmt[2]] = values[stmt[3]]
        return None
    return values[stmt[1]][stmt[2]] if kind == 'item' else values[stmt[1]]
