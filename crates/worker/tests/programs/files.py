"""Tries to change files in the directory given; prints one line per attempt."""
import os
import sys

outside = sys.argv[1]
canary = os.path.join(outside, "canary")
child = os.path.join(outside, "child")


def overwrite(path):
    with open(path, "w") as file:
        file.write("spoiled")


def link_and_write():
    os.link(canary, "linked")
    overwrite("linked")


def through_link_to_file():
    os.symlink(canary, "file-link")
    overwrite("file-link")


def through_link_to_directory():
    os.symlink(outside, "directory-link")
    overwrite("directory-link/new")


def make_suid():
    fd = os.open("suid", os.O_CREAT | os.O_WRONLY, 0o4755)
    os.close(fd)
    os.chmod("suid", 0o4755)


attempts = {
    "append": lambda: open(canary, "a").close(),
    "overwrite": lambda: overwrite(canary),
    "truncate": lambda: os.truncate(canary, 0),
    "chmod": lambda: os.chmod(canary, 0o777),
    "chown": lambda: os.chown(canary, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(canary, (1, 1)),
    "create": lambda: overwrite(os.path.join(outside, "created")),
    "mkdir": lambda: os.mkdir(os.path.join(outside, "made")),
    "rmdir": lambda: os.rmdir(child),
    "file link": through_link_to_file,
    "directory link": through_link_to_directory,
    "hard link": link_and_write,
    "suid": make_suid,
    "rename": lambda: os.rename(canary, os.path.join(outside, "renamed")),
    "fetch": lambda: os.rename(canary, "fetched"),
    "delete": lambda: os.unlink(canary),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "SUCCEEDED")
    except OSError as error:
        print(name, "refused", error.errno)
