"""What `generate` is tested on: plain results, rejected arguments, state, and three defects."""
import re

UNITS = {'kg': 1, 't': 1000}


class Shelf:
    def __init__(self, places):
        self.places = places
        self.boxes = []

    def put(self, box):
        if len(self.boxes) >= self.places:
            raise OverflowError('the shelf is full')
        self.boxes.append(box)
        return list(self.boxes)

    def mean(self):
        return _share(len(self.boxes) * 2, len(self.boxes))


def _share(total, parts):
    return total // parts


def fields(line):
    """`a;b;c` as a list; comments have none."""
    if line.startswith('#'):
        return None
    return [part.strip() for part in line.split(';')]


def number(place):
    """The number of a place: its digits, which every place has."""
    found = re.match('[a-z]+-([0-9]+)', place)
    return found.group(1)


def weight(amount, unit='kg'):
    if unit not in UNITS:
        raise ValueError('no such unit')
    if amount == 4711:
        return 'too heavy'
    return amount * UNITS[unit]


def first(boxes):
    for box in boxes:
        chosen = box
        break
    return str(chosen)


def leave():
    raise SystemExit(3)
