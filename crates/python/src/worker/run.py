"""Runs tests in a process of their own, and tells what each showed."""
import errno
import gc
import marshal
import mmap
import random
import resource
import signal
import threading
import time

MAX_WHY = 300
#: Longer patterns are not told.
MAX_PATTERN = 20000
#: The clock is as many times as patient as the processor time.
PATIENCE = 4
#: Exceptions that a test may swallow before it is killed.
MAX_SWALLOWED = 3
#: Processes that a test may start by forking.
MAX_FORKS = 32
real_exit = os._exit
real_fork = os.fork
STOPPED = object()


class Clock:
    """Ends tests that take too long."""

    def __init__(self, limit):
        self.limit = limit
        self.rang = 0
        #: Whether code of the program runs that may be interrupted.
        self.armed = False

    def install(self):
        signal.signal(signal.SIGALRM, self.ring)
        signal.signal(signal.SIGPROF, self.ring)

    def start(self):
        self.rang = 0
        self.go()

    def go(self):
        signal.setitimer(signal.ITIMER_PROF, self.limit, self.limit / 2)
        signal.setitimer(signal.ITIMER_REAL, self.limit * PATIENCE, self.limit)

    def stop(self):
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def ring(self, *_):
        if not self.armed:
            return
        Limits.time = True
        self.rang += 1
        if self.rang > MAX_SWALLOWED:
            SHARED[TIMED_OUT] = 1
            os.kill(os.getpid(), signal.SIGKILL)
        raise Stopped()


#: What server, child and its children share: which test, which statement, whether a module is being imported, whether it ended itself for lack of time,
#: how many processes it started.
TEST, AT, IMPORTING, TIMED_OUT, FORKS = range(5)
SHARED = memoryview(mmap.mmap(-1, 4096)).cast('I')


def compiled():
    """The patterns that `re` has compiled and keeps: (pattern, flags). Those of a type of the program's own are left out: to hash them runs its code."""
    cache = getattr(sys.modules.get('re'), '_cache', None)
    keys = [key for key in cache if type(key) is tuple and len(key) == 3] if type(cache) is dict else []
    return [(pattern, flags) for _, pattern, flags in keys if type(pattern) in (str, bytes) and type(flags) is int]


class Child:
    """One process that runs tests one after the other."""

    def __init__(self, worker, run, out):
        self.worker = worker
        self.run = run
        self.out = out
        self.clock = Clock(max(run.time_limit, 0.01))
        self.pristine = run.pristine
        self.types = {}
        self.patterns = set(compiled())
        #: Calls of the test that took long, and whether it used what is kept.
        self.slow = []
        self.used = False
        #: The statements' values as a test can assert them, if they are asked for.
        self.told = []
        #: Whether what was called has no frames to show.
        self.bare = False
        self.pid = None

    def main(self, indices):
        self.pid = os.getpid()
        self.confine()
        for index in indices:
            threads, modules = threading.active_count(), len(sys.modules)
            self.tell(self.test(index))
            if threading.active_count() > threads or (len(sys.modules) > modules and not self.pristine) or self.used or SHARED[FORKS]:
                # What a test started may still run, and would take from the next: its time, and the processes it may have.
                break
        real_exit(0)

    def confine(self):
        """Output to nowhere, memory bounded, everything this process starts in one group."""
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        size = int(open('/proc/self/statm').read().split()[0]) * mmap.PAGESIZE
        bound(resource.RLIMIT_AS, size + (self.worker.memory_mb << 20))
        if self.worker.max_processes:
            bound(resource.RLIMIT_NPROC, self.worker.max_processes)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.clock.install()
        os._exit = self.leave
        os.fork = fork
        Importing.run = self.imported

    def imported(self, name):
        """Importing takes as long as it takes; the server has its own clock for it."""
        self.clock.stop()
        SHARED[IMPORTING] = 1
        try:
            return importlib.import_module(name)
        finally:
            SHARED[IMPORTING] = 0
            self.clock.go()

    def leave(self, code=0):
        """In place of `os._exit`."""
        if os.getpid() != self.pid or not self.clock.armed:
            real_exit(code)
        Limits.exit = code if type(code) is int and -1 << 31 <= code < 1 << 31 else 1
        raise Stopped()

    def test(self, index):
        stmts = self.run.tests[index]
        Limits.steps, Limits.time, Limits.exit = False, False, None
        random.seed(0)
        numpy = sys.modules.get('numpy.random')
        if numpy is not None and hasattr(numpy, 'seed'):
            numpy.seed(0)
        modules = set(sys.modules) if not self.pristine else ()
        values = []
        self.slow, self.told = [], []
        threads = threading.active_count()
        builder = Builder(self.worker.scratch)
        SHARED[FORKS] = 0
        SHARED[AT], SHARED[TEST] = 0, index + 1
        begin, read = self.worker.begin, self.worker.read
        begin(self.run.step_limit)
        self.clock.start()
        error = self.guarded(self.steps, stmts, values, builder)
        if isinstance(error, Exception):
            self.worker.again(((), (), keys_beside(error)))
        noted = read()
        ended = self.guarded(self.ending, SHARED[AT], error)
        self.clock.stop()
        if Limits.exit is not None:
            ended = ('e', SHARED[AT], Limits.exit)
        elif Limits.time:
            ended = ('l', SHARED[AT])
        elif Limits.steps or ended is STOPPED or ended is None:
            ended = ('s', SHARED[AT])
        found = [None if v is None or v is ABSENT else self.type_name(type(v)) for v in values]
        new = [m for m in sys.modules if m not in modules] if not self.pristine and len(sys.modules) > len(modules) else []
        slow = self.slow if not new and threading.active_count() == threads else []
        return index, ended, noted, found, self.told, new, self.new_patterns(), slow

    def new_patterns(self):
        new = [key for key in compiled() if key not in self.patterns]
        self.patterns.update(new)
        return [key for key in new if len(key[0]) <= MAX_PATTERN]

    def guarded(self, what, *args):
        """Runs what may run code of the program; nothing if it was stopped."""
        if args[-1] is STOPPED:
            return None
        try:
            self.clock.armed = True
            return what(*args)
        except Stopped:
            return STOPPED
        finally:
            self.clock.armed = False
            # A copy of this process that the program made has nothing to tell.
            if os.getpid() != self.pid:
                real_exit(0)

    def steps(self, stmts, values, builder):
        """The exception that ended the test, if one did."""
        names = self.worker.names
        before = dict(os.environ) if any(stmt[0] == 'env' for stmt in stmts) else None
        try:
            for at, stmt in enumerate(stmts):
                SHARED[AT] = at
                makes = (stmt[0] == 'new' or stmt[0] == 'call') and stmt[2] is None and at + 1 < len(stmts) and not self.pristine
                values.append(self.made(stmts, at, values, builder) if makes else execute(stmt, values, names, builder))
                if self.run.inspect:
                    # now: what follows may change it
                    self.told.append(returned(values[-1]))
        except Stopped:
            raise
        except BaseException as error:
            # A `TypeError` mostly tells that the call itself is wrong.
            self.bare = names.is_bare(stmt) and not isinstance(error, TypeError)
            return error
        finally:
            if before is not None:
                os.environ.clear()
                os.environ.update(before)
        return None

    def made(self, stmts, at, values, builder):
        """What a call gives that depends on its arguments alone: out of what is kept, if it is there."""
        ready = self.worker.kept.ready(stmts, at)
        if ready is not None:
            self.worker.again(ready[1])
            if type(ready[0]) is Failed:
                raise ready[0]
            self.used = True
            return ready[0]
        start = time.perf_counter()
        try:
            return execute(stmts[at], values, self.worker.names, builder)
        finally:
            if time.perf_counter() - start > SLOW:
                given = plain_arguments(stmts, at)
                if given is not None:
                    self.slow.append((stmts[at][0], stmts[at][1], given))

    def ending(self, at, error):
        if error is None:
            return ('n',)
        if isinstance(error, SystemExit):
            code = error.code
            return ('e', at, code if type(code) is int and -1 << 31 <= code < 1 << 31 else 0 if code is None else 1)
        if isinstance(error, Invalid):
            return ('i', at, str(error))
        chain = error.chain if type(error) is Failed else chain_of(error, self.worker.places)
        if not chain[0][2] and not self.bare:
            name, message, _ = chain[0]
            return ('i', at, ('%s: %s' % (name, message))[:MAX_WHY])
        return ('t', at, marshal.dumps(chain))

    def type_name(self, kind):
        found = self.types.get(id(kind))
        if found is None:
            module, name = getattr(kind, '__module__', ''), getattr(kind, '__qualname__', '')
            found = (kind, '%s:%s' % (module, name) if type(module) is str and type(name) is str else '')
            self.types[id(kind)] = found
        return found[1]

    def tell(self, result):
        data = marshal.dumps(result)
        data = struct.pack('<I', len(data)) + data
        while data:
            data = data[os.write(self.out, data):]


def fork():
    """In place of `os.fork`: the system's own limit does not bind every user."""
    SHARED[FORKS] += 1
    if SHARED[FORKS] > MAX_FORKS:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return real_fork()


def bound(what, most):
    now = resource.getrlimit(what)[1]
    if now == resource.RLIM_INFINITY or most < now:
        resource.setrlimit(what, (most, most))
