"""The worker: runs tests of a Python program for the parent. Standard library only, CPython 3.8 and later.

The files of this folder are one program, in the order codec, frames, record, instrument, values, run, serve. This part reads and writes the messages of the
protocol (postcard: variable-length integers, zigzag for signed ones, lengths before texts and lists, numbers for the cases of an enum).
"""
import struct


class Reader:
    __slots__ = ('data', 'at')

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def number(self):
        data, at = self.data, self.at
        byte = data[at]
        at += 1
        value = byte & 127
        shift = 7
        while byte > 127:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
        self.at = at
        return value

    def signed(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def blob(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.blob().decode('utf-8', 'replace')

    def many(self, one):
        return [one() for _ in range(self.number())]

    def option(self, one):
        return one() if self.byte() else None


def number(value):
    if value < 128:
        return SMALL[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


SMALL = [bytes((i,)) for i in range(128)]


def signed(value):
    return number((value << 1) if value >= 0 else ((-value << 1) - 1))


def text(value):
    value = value.encode('utf-8', 'replace')
    return number(len(value)) + value


def many(items):
    """A list of things that are already written."""
    return number(len(items)) + b''.join(items)


def option(written):
    return b'\0' if written is None else b'\1' + written


def numbers(values):
    """A list of numbers; most are small."""
    if not values or max(values) < 128:
        return number(len(values)) + bytes(values)
    return number(len(values)) + b''.join([SMALL[v] if v < 128 else number(v) for v in values])


NO_DISTANCE = b'\0'


def distance(value):
    if value == INF or value != value:
        return NO_DISTANCE
    if 0 <= value < 4294967296 and value == int(value):
        return b'\1' + number(int(value))
    return b'\2' + struct.pack('<d', value)


INF = float('inf')


def read_test(r):
    return [STATEMENTS[r.number()](r) for _ in range(r.number())]


def _value(r):
    kind = r.number()
    if kind == 0:
        return bool(r.byte())
    if kind == 1:
        return (r.byte() ^ 128) - 128
    if kind == 2:
        return r.number()
    if kind <= 5:
        return r.signed()
    bits = r.number()
    return struct.unpack('<f', struct.pack('<I', bits))[0] if kind == 6 else struct.unpack('<d', struct.pack('<Q', bits))[0]


def _skip_ty(r):
    """A type: its base and its dimensions; only the number of a class is of use."""
    base = r.number()
    found = r.number() if base else None
    r.byte()
    return found if base == 2 else None


STATEMENTS = [
    lambda r: ('value', _value(r)),
    lambda r: ('value', r.text()),
    lambda r: ('null', _skip_ty(r)),
    lambda r: ('static', r.number()),
    lambda r: ('class', _skip_ty(r)),
    lambda r: ('new', r.number(), None, r.many(r.number)),
    lambda r: ('call', r.number(), r.option(r.number), r.many(r.number)),
    lambda r: ('get', r.number(), r.number()),
    lambda r: ('set', r.number(), r.option(r.number), r.number()),
    lambda r: ('array', _skip_ty(r), r.number()),
    lambda r: ('put', r.number(), r.number(), r.number()),
    lambda r: ('item', r.number(), r.number()),
    lambda r: ('same', r.number(), _skip_ty(r)),
    lambda r: ('data', read_data(r)),
    # Stubs are for languages that declare types.
    None,
    lambda r: ('env',) + ENVIRONMENT[r.number()](r),
]

ENVIRONMENT = [
    lambda r: ('file', r.text(), r.text()),
    lambda r: ('folder', r.text()),
    lambda r: ('setting', r.text(), r.text()),
    lambda r: ('locale', r.text()),
    lambda r: ('zone', r.text()),
    lambda r: ('input', r.text()),
]


def read_data(r):
    kind = r.number()
    return (kind, DATA[kind](r))


def _datas(r):
    return [read_data(r) for _ in range(r.number())]


DATA = [
    lambda r: None,
    lambda r: bool(r.byte()),
    lambda r: r.signed(),
    lambda r: struct.unpack('<d', struct.pack('<Q', r.number()))[0],
    lambda r: r.text(),
    lambda r: bytes(r.blob()),
    _datas,
    _datas,
    _datas,
    lambda r: [(read_data(r), read_data(r)) for _ in range(r.number())],
    lambda r: r.number(),
    lambda r: None,
    read_data,
    _datas,
    read_data,
    read_data,
    lambda r: [(r.text(), read_data(r)) for _ in range(r.number())],
    lambda r: (_datas(r), [(r.text(), read_data(r)) for _ in range(r.number())], bool(r.byte())),
    lambda r: (read_data(r), _datas(r)),
    lambda r: (read_data(r), _datas(r)),
]
