"""Does all the harm it can on the way to its crash. What it aims at stands in where.json beside it; outside the jail each deed works, which a control run
shows. A deed that gets through ends in another exception, so that the crash cannot be reproduced.
"""
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys


def crash(wanted):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'where.json')) as f:
        where = json.load(f)
    done = harm(where)
    # Allowed; but it must not outlive the run.
    nothing = subprocess.DEVNULL
    subprocess.Popen(['setsid', 'sleep', where['nap']], stdin=nothing, stdout=nothing, stderr=nothing)
    if done:
        raise PermissionError('got through: ' + ' '.join(done))
    if wanted != 7:
        raise RuntimeError('all refused')  # crash


def harm(where):
    home, bait, port = where['home'], where['bait'], where['port']
    inside = lambda name: os.path.join(home, name)
    deeds = [
        ('read', lambda: open(inside('secret')).read()),
        ('delete', lambda: os.remove(inside('canary'))),
        ('delete-io', lambda: os.unlink(inside('canary-io'))),
        ('write', lambda: open(inside('written'), 'w').close()),
        ('append', lambda: write(inside('appended'), os.O_WRONLY | os.O_APPEND)),
        ('truncate', lambda: os.truncate(inside('truncated'), 0)),
        ('rename', lambda: os.rename(inside('renamed'), inside('elsewhere'))),
        ('link', lambda: os.symlink(home, inside('link'))),
        ('mkdir', lambda: os.mkdir(inside('folder'))),
        ('tmp', lambda: open(where['tmp'], 'w').close()),
        ('modules', lambda: open(os.path.join(where['modules'], 'planted'), 'w').close()),
        ('environ', lambda: require(b'SECRET' in open('/proc/%d/environ' % bait, 'rb').read())),
        ('memory', lambda: open('/proc/%d/mem' % bait, 'r+b').close()),
        ('ptrace', lambda: trace(bait)),
        ('kill', lambda: os.kill(bait, signal.SIGKILL)),
        ('tcp', lambda: connect(socket.AF_INET, '127.0.0.1', port)),
        ('tcp6', lambda: connect(socket.AF_INET6, '::1', port)),
        ('udp', lambda: send(socket.AF_INET, '127.0.0.1', port)),
        ('udp6', lambda: send(socket.AF_INET6, '::1', port)),
    ]
    return [name for name, deed in deeds if works(deed)]


def works(deed):
    try:
        deed()
        return True
    except Exception:
        # As it should be.
        return False


def write(path, how):
    fd = os.open(path, how)
    os.write(fd, b'x')
    os.close(fd)


def trace(pid):
    attach, detach = 16, 17
    libc = ctypes.CDLL(None, use_errno=True)
    require(libc.ptrace(attach, pid, None, None) == 0)
    os.waitpid(pid, 0)
    libc.ptrace(detach, pid, None, None)


def connect(family, host, port):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(0.5)
        s.connect((host, port))
        s.send(b'x')


def send(family, host, port):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.sendto(b'x', (host, port))


def require(worked):
    if not worked:
        raise OSError('refused')


if __name__ == '__main__':
    try:
        crash(0)
    except PermissionError as got_through:
        print(got_through)
        sys.exit(0)
