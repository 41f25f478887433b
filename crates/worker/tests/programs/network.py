"""Tries to reach loopback: TCP port, UDP port, a socket path, and other families; prints one line per attempt."""
import socket
import sys

tcp, udp, tcp6, udp6, path = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        s.connect(address)
        s.sendall(b"x")


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", address)


attempts = {
    "tcp": lambda: connect(socket.AF_INET, ("127.0.0.1", tcp)),
    "udp": lambda: send(socket.AF_INET, ("127.0.0.1", udp)),
    "tcp6": lambda: connect(socket.AF_INET6, ("::1", tcp6)),
    "udp6": lambda: send(socket.AF_INET6, ("::1", udp6)),
    "unix": lambda: connect(socket.AF_UNIX, path),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "SUCCEEDED")
    except OSError as error:
        print(name, "refused", error.errno)
