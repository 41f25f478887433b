"""Most of its methods end the process, or never end; a search for the crash calls them by the way."""
import os
import signal
import sys
import threading
import time


class Stop:
    def __init__(self):
        self.lock = threading.Lock()
        self.hoard = []
        self.armed = 0

    def arm(self, by):
        if by > 0:
            self.armed += 1

    def exit(self, code):
        sys.exit(code)

    def exit_now(self, code):
        os._exit(code)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def spin(self, i):
        while True:
            i = i * 31 % 1000 + 1

    def sleep(self, seconds):
        """Deaf to exceptions."""
        while True:
            try:
                time.sleep(abs(seconds) + 1000)
            except BaseException:
                self.armed = 0

    def deadlock(self):
        """Another thread has the lock for ever."""
        threading.Thread(target=lambda: self.lock.acquire() and time.sleep(100000), daemon=True).start()
        while not self.lock.locked():
            time.sleep(0.001)
        with self.lock:
            self.armed += 1

    def exhaust(self):
        while True:
            self.hoard.append(bytearray(1 << 24))

    def crash(self, code):
        if self.armed > 0 and code == 4711:
            raise RuntimeError('armed')  # crash
