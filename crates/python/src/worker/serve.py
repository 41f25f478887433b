"""The server: speaks with the parent, imports the modules under test once, and forks a child for each batch.

Where modules have started threads, forking would copy a process without them: there each batch gets a fresh interpreter.
"""
import re
import select
import traceback
import warnings

VERSION = 9
#: Patterns of regular expressions that are remembered.
MAX_PATTERNS = 2000
PREPARING = 0xffffffff
FLUSH = 32 << 10
MAX_INTERNED = 20000
MAX_PROCESSES = 200
#: What a child may take beyond its own clock.
SLACK = 1.0
ENDED = {'n': 0, 't': 1, 'i': 2, 's': 3, 'l': 4, 'e': 5, 'd': 6}
INLINE = 'RETHROW_INLINE'


class Late(BaseException):
    """An import took too long."""


class Run:
    def __init__(self, r):
        self.step_limit = r.number()
        self.time_limit = r.number() / 1000.0
        self.pristine = bool(r.byte())
        self.inspect = bool(r.byte())
        self.tests = [read_test(r) for _ in range(r.number())]


class Worker:
    """Everything that server and children have in common."""

    def __init__(self, r):
        path = lambda: os.fsdecode(bytes(r.blob()))
        r.blob()
        self.progress_path, self.scratch = path(), path()
        self.sources, stdlib, site = r.many(path), r.many(path), r.many(path)
        self.instrument = bool(r.byte())
        points, branches = r.number(), r.number()
        self.memory_mb, self.import_limit, self.batch = r.number(), r.number() / 1000.0, max(r.number(), 1)
        self.lazy = set(r.many(r.text))
        place = lambda: ((r.number(), r.number()), r.number())
        modules = {}
        for _ in range(r.number()):
            file, module = os.path.realpath(path()), r.text()
            modules[module] = (file, (first_wins(r.many(place)), first_wins(r.many(place))))
        codes = {}
        for _ in range(r.number()):
            file = os.path.realpath(path())
            codes[file] = {(line, name): owner for line, name, owner in r.many(lambda: (r.number(), r.text(), r.text()))}
        chain = r.many(lambda: (r.many(r.number), r.text(), r.text(), r.number()))
        Instrumenter.chain = frozenset(n for points, _, _, _ in chain for n in points)
        self.modules = modules
        self.files = {file for file, _ in modules.values()}
        self.names = Names()
        self.places = Places(stdlib, site, codes, ('<rethrow>',))
        self.begin, self.read, self.show, self.again = make_recorder(points, branches, chain, self.places)
        self.kept = Kept()
        self.max_processes = MAX_PROCESSES if counts_own_processes() else None

    def enter(self):
        """Makes the interpreter as the program expects it."""
        sys.argv = ['rethrow']
        sys.path[:] = [p for p in sys.path if p]
        sys.path[:0] = [p for p in self.sources if p not in sys.path]
        if self.instrument:
            sys.meta_path.insert(0, Finder(self.modules))
        sys.dont_write_bytecode = True


def first_wins(pairs):
    found = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def counts_own_processes():
    """Whether the limit on processes counts those of the jail alone: in a user namespace, since Linux 5.14."""
    try:
        version = tuple(int(''.join(filter(str.isdigit, n)) or 0) for n in os.uname().release.split('.')[:2])
        return version >= (5, 14) and open('/proc/self/uid_map').read().split() != ['0', '0', '4294967295']
    except OSError:
        return False


class Interned:
    """What was told to the parent by number."""

    def __init__(self):
        self.types, self.stacks, self.chains = {}, {}, {}
        self.new_types, self.new_stacks, self.new_chains = [], [], []
        self.forget = False

    def type(self, name):
        if name not in self.types:
            self.types[name] = len(self.types)
            self.new_types.append(text(name))
        return self.types[name]

    def chain(self, blob):
        found = self.chains.get(blob)
        if found is not None:
            return found
        if len(self.chains) >= MAX_INTERNED:
            self.stacks, self.chains, self.new_stacks, self.new_chains, self.forget = {}, {}, [], [], True
        links = []
        for name, message, frames in marshal.loads(blob):
            links.append(text(name) + option(None if message is None else text(message)) + number(self.stack(tuple(frames))))
        self.chains[blob] = found = len(self.chains)
        self.new_chains.append(many(links))
        return found

    def stack(self, frames):
        if frames not in self.stacks:
            self.stacks[frames] = len(self.stacks)
            self.new_stacks.append(many([written_frame(f) for f in frames]))
        return self.stacks[frames]

    def take(self):
        """The message that must come before what uses it; empty if there is nothing new."""
        if not (self.forget or self.new_types or self.new_stacks or self.new_chains):
            return b''
        known = b'\2' + (b'\1' if self.forget else b'\0') + many(self.new_types) + many(self.new_stacks) + many(self.new_chains)
        self.new_types, self.new_stacks, self.new_chains, self.forget = [], [], [], False
        return framed(known)


def written_frame(frame):
    owner, method, path, line, platform = frame
    line = number(line) if line > 0 else None
    return text(owner) + text(method) + option(text(path)) + option(line) + b'\0' + (b'\1' if platform else b'\0')


def framed(data):
    return struct.pack('<I', len(data)) + data


class Server:
    def __init__(self, worker, fd):
        self.worker = worker
        self.fd = fd
        self.pid = os.getpid()
        self.out = []
        self.waiting = 0
        self.interned = Interned()
        self.history = [framed(FRAME)]
        self.unprepared = []
        self.alone = False
        self.shown = 0
        self.tried = set()
        self.patterns = {}
        with open(worker.progress_path, 'r+b') as page:
            self.page = memoryview(mmap.mmap(page.fileno(), 16)).cast('I')

    # messages

    def send(self, data):
        self.out.append(data)
        self.waiting += len(data)
        if self.waiting > FLUSH:
            self.flush()

    def flush(self):
        data = b''.join(self.out)
        self.out, self.waiting = [], 0
        while data:
            data = data[os.write(self.fd, data):]

    def receive(self):
        return self.read(int.from_bytes(self.read(4), 'little'))

    def read(self, size):
        parts = []
        while size:
            part = os.read(self.fd, min(size, 1 << 20))
            if not part:
                real_exit(0)
            parts.append(part)
            size -= len(part)
        return b''.join(parts)

    def serve(self):
        self.send(framed(b'\0' + number(VERSION) + text(runtime())))
        self.flush()
        while True:
            frame = self.receive()
            r = Reader(frame)
            kind = r.number()
            if kind == 1:
                self.define(r, frame)
            elif kind == 2:
                self.run(Run(r), frame)
            else:
                real_exit(0)

    # modules

    def define(self, r, frame):
        prepare = self.worker.names.define(r)
        self.history.append(framed(frame))
        for place, name in enumerate(prepare):
            if not self.prepare(name, place):
                self.unprepared.append(name)

    def prepare(self, name, place=0):
        """Imports a module outside any test."""
        if name in sys.modules:
            return True
        self.page[2], self.page[1] = place, PREPARING
        ready = self.guarded(lambda: importlib.import_module(name))
        self.page[1] = 0
        self.page[0] += 1
        self.settle()
        return ready

    def guarded(self, what):
        deadline = time.monotonic() + self.worker.import_limit
        late = []

        def ring(*_):
            self.page[0] = (self.page[0] + 1) & 0xffffffff
            if time.monotonic() > deadline:
                late.append(1)
                if len(late) > 10:
                    real_exit(1)
                raise Late()
        old = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        try:
            what()
            ready = True
        except BaseException as error:
            print(''.join(traceback.format_exception_only(type(error), error))[:2000], file=sys.__stderr__)
            ready = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
            # What forks meanwhile.
            if os.getpid() != self.pid:
                real_exit(0)
        return ready and not late

    def settle(self):
        """The modules are there: what follows shall not move them around in memory."""
        self.alone = threading.active_count() == 1
        gc.collect()
        if hasattr(gc, 'freeze'):
            gc.freeze()

    # tests

    def run(self, run, frame):
        if self.unprepared:
            names, self.unprepared = self.unprepared, []
            return self.done(0, '%s cannot be imported' % ', '.join(names), names)
        if not self.alone:
            self.settle()
        self.again = set()
        pending = list(range(len(run.tests)))
        while pending:
            size = 1 if run.pristine else self.worker.batch
            told, repeat = self.batch(run, frame, pending[:size])
            pending = repeat + pending[told + len(repeat):]
        self.done(len(run.tests), None, [])

    def done(self, ran, retire, unprepared):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = int(sum(u.ru_utime + u.ru_stime for u in used) * 1e6)
        done = b'\4' + number(ran) + option(None if retire is None else text(retire)) + b'\0' + many([text(n) for n in unprepared]) + number(cpu)
        self.page[1] = 0
        self.send(framed(done))
        self.flush()

    def batch(self, run, frame, indices):
        """How many of the tests have a result, and those to be run again before the rest."""
        reader, writer = os.pipe()
        SHARED[TEST] = SHARED[AT] = SHARED[IMPORTING] = SHARED[TIMED_OUT] = 0
        self.flush()
        if self.alone:
            pid = real_fork()
            if pid == 0:
                try:
                    os.close(reader)
                    os.close(self.fd)
                    Child(self.worker, run, writer).main(indices)
                finally:
                    real_exit(70)
        else:
            pid = self.spawn(frame, indices, writer)
        os.close(writer)
        return self.follow(run, indices, pid, reader)

    def spawn(self, frame, indices, writer):
        """A fresh interpreter that has all we were told, on a pipe."""
        source, feed = os.pipe()
        orders = b''.join(self.history) + framed(frame) + framed(marshal.dumps((indices, sorted(self.tried))))
        os.set_inheritable(writer, True)
        pid = real_fork()
        if pid == 0:
            os.dup2(source, 3)
            env = dict(os.environ, **{INLINE: '%d' % writer})
            os.execve(sys.executable, [sys.executable] + original_arguments(), env)
        os.close(source)
        try:
            while orders:
                orders = orders[os.write(feed, orders):]
        except OSError:
            pass
        os.close(feed)
        return pid

    def follow(self, run, indices, pid, reader):
        """Reads what a child tells until it ends; what it did not tell is its fault."""
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        patience = run.time_limit * PATIENCE + SLACK
        if not self.alone:
            patience += self.worker.import_limit
        deadline = time.monotonic() + patience
        buffer, told, at_end, killed, self.shown = b'', [], False, False, -1
        while True:
            self.show(indices, told)
            if poll.poll(1 if at_end else 100) and not at_end:
                data = os.read(reader, 1 << 16)
                buffer += data
                results, buffer = split(buffer)
                if results:
                    deadline = time.monotonic() + patience
                told.extend(results)
                if data:
                    continue
                at_end = True
                poll.unregister(reader)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > deadline + (self.worker.import_limit if SHARED[IMPORTING] else 0):
                killed = True
                os.kill(pid, signal.SIGKILL)
        buffer += drained(reader)
        told.extend(split(buffer)[0])
        os.close(reader)
        self.end_group(pid)
        return self.results(indices, told, status, killed)

    def show(self, indices, told):
        """Lets the parent see which test is running."""
        self.page[2] = SHARED[AT]
        self.page[1] = SHARED[TEST] or indices[min(len(told), len(indices) - 1)] + 1
        if len(told) != self.shown or not self.alone or SHARED[IMPORTING]:
            # The parent's patience is not made for imports.
            self.shown = len(told)
            self.page[0] = (self.page[0] + 1) & 0xffffffff

    def end_group(self, pid):
        """Ends what the child left behind, and waits for it: the dying still count as processes, and the next test may want some."""
        deadline = time.monotonic() + SLACK
        try:
            while time.monotonic() < deadline:
                os.killpg(pid, signal.SIGKILL)
                time.sleep(0.001)
        except OSError:
            pass

    def results(self, indices, told, status, killed):
        count, repeat, new = 0, [], []
        for index, ended, noted, types, values, modules, patterns, slow in told:
            self.warm(patterns)
            for kind, method, given in slow:
                if self.worker.kept.wants(method, given):
                    self.keep(kind, method, given)
            watched = [m for m in modules if m not in self.worker.lazy]
            new.extend(watched)
            if any(m in self.worker.modules for m in watched) and index not in self.again:
                # What the first use of a module does belongs to no test: once more when it is there.
                self.again.add(index)
                repeat.append(index)
                break
            self.result(index, ended, noted, types, values)
            count += 1
        for name in new:
            if name not in self.tried:
                self.tried.add(name)
                self.prepare(name)
        if count + len(repeat) < len(indices) and (status != 0 or killed or not told):
            index = indices[count + len(repeat)]
            self.result(index, self.death(status, killed), (b'\0', b'\0', b'\0', b'\0'), [], [])
            count += 1
        return count, repeat

    def warm(self, patterns):
        """Each fork compiles again what others have compiled: what comes a second time is compiled here, for all that follow."""
        for key in patterns:
            times = self.patterns.get(key, 0) + 1
            if times > 1 or len(self.patterns) < MAX_PATTERNS:
                self.patterns[key] = times
            if times == 2:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter('ignore')
                        re.compile(*key)
                except Exception:
                    pass

    def keep(self, kind, method, given):
        """Makes an object that tests make again and again."""
        worker = self.worker

        def make():
            builder = Builder(worker.scratch)
            values = [builder.build(data, ()) for data in given]
            random.seed(0)
            worker.begin(None)
            try:
                made = execute((kind, method, None, list(range(len(given)))), values, worker.names, builder)
            except Exception as error:
                made = Failed(chain_of(error, worker.places))
            worker.kept.keep(method, given, (made, worker.show()))
        self.guarded(make)
        worker.read()
        self.settle()

    def death(self, status, killed):
        at = SHARED[AT]
        if killed or SHARED[TIMED_OUT]:
            return ('l', at)
        if os.WIFSIGNALED(status):
            return ('d', at, 'it ended with signal %d' % os.WTERMSIG(status))
        return ('e', at, os.WEXITSTATUS(status))

    def result(self, index, ended, noted, types, values):
        kind = ended[0]
        end = number(ENDED[kind])
        if kind == 't':
            end += number(ended[1]) + number(self.interned.chain(ended[2]))
        elif kind == 'i':
            end += number(ended[1]) + text(ended[2])
        elif kind == 'e':
            end += number(ended[1]) + signed(ended[2])
        elif kind == 'd':
            end += text(ended[2])
        elif kind != 'n':
            end += number(ended[1])
        numbered = numbers([0 if t is None else self.interned.type(t) + 1 for t in types])
        hits, branches, seen, reach = noted
        self.send(self.interned.take() + framed(b'\3' + number(index) + end + hits + branches + b'\0' + numbered + seen + b'\0' + reach + b'\0' + many([option(v) for v in values])))


def split(buffer):
    """Whole results at the beginning of `buffer`, and the rest."""
    results, at = [], 0
    while len(buffer) - at >= 4:
        size = int.from_bytes(buffer[at:at + 4], 'little')
        if len(buffer) - at - 4 < size:
            break
        results.append(marshal.loads(buffer[at + 4:at + 4 + size]))
        at += 4 + size
    return results, buffer[at:]


def drained(fd):
    """What is left in a pipe that others may hold open."""
    os.set_blocking(fd, False)
    data = b''
    try:
        while len(data) < 64 << 20:
            part = os.read(fd, 1 << 16)
            if not part:
                break
            data += part
    except OSError:
        pass
    return data


def runtime():
    return '%s %d.%d.%d' % (('CPython' if sys.implementation.name == 'cpython' else sys.implementation.name,) + sys.version_info[:3])


def original_arguments():
    """The command line of this interpreter."""
    with open('/proc/self/cmdline', 'rb') as f:
        return [os.fsdecode(a) for a in f.read().split(b'\0')[1:-1]]


def start():
    r = Reader(FRAME)
    greeting, version = r.number(), r.number()
    if greeting != 0 or version != VERSION:
        why = 'the worker speaks version %d of the protocol, not %d' % (VERSION, version)
        os.write(3, framed(b'\1' + text(why)))
        real_exit(1)
    r.number()
    inline = os.environ.pop(INLINE, None)
    try:
        worker = Worker(r)
        worker.enter()
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        if inline is not None:
            return run_inline(worker, int(inline))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        server = Server(worker, 3)
        server.settle()
    except Exception as error:
        os.write(3, framed(b'\1' + text('the worker cannot start: %r' % (error,))))
        real_exit(1)
    server.serve()


def import_all(names):
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass


def run_inline(worker, writer):
    """Runs one batch in this process."""
    read = lambda: Server.read(reader, int.from_bytes(Server.read(reader, 4), 'little'))
    reader = types.SimpleNamespace(fd=3)
    while True:
        frame = read()
        r = Reader(frame)
        kind = r.number()
        if kind != 1:
            break
        import_all(worker.names.define(r))
    run = Run(r)
    # Each test would import again what others have imported, and be the last of its process.
    indices, known = marshal.loads(read())
    import_all(known)
    os.close(3)
    try:
        Child(worker, run, writer).main(indices)
    finally:
        real_exit(70)


start()
