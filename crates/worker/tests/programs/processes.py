"""Tries to reach the process given; prints one line per attempt. Killing comes last."""
import ctypes
import os
import signal
import sys

victim = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)


def ptrace_seize():
    if libc.ptrace(0x4206, victim, 0, 0) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def lower_limit():
    import resource
    resource.prlimit(victim, resource.RLIMIT_NOFILE, (5, 5))


attempts = {
    "environ": lambda: open(f"/proc/{victim}/environ", "rb").read(),
    "mem": lambda: open(f"/proc/{victim}/mem", "rb").close(),
    "fd": lambda: os.readlink(f"/proc/{victim}/fd/0"),
    "prlimit": lower_limit,
    "ptrace": ptrace_seize,
    "kill": lambda: os.kill(victim, signal.SIGKILL),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "SUCCEEDED")
    except OSError as error:
        print(name, "refused", error.errno)
