"""What all rivals share: where the server is, how a job says that it ran, and what it carries."""
import os
import sys
import time

URL = os.environ['RIVAL_URL']
PORT = int(URL.rsplit(':', 1)[1].split('/')[0])
JOBS = int(os.environ['RIVAL_JOBS'])
# As many bytes of arguments as the jobs of `errand bench` have.
PADDING = 'x' * 10
_marks = os.open(os.environ['RIVAL_MARKS'], os.O_WRONLY | os.O_APPEND)


def mark():
    os.write(_marks, b'.')


def report(push):
    """Runs the pushing function and prints jobs a second."""
    start = time.monotonic()
    push()
    print(JOBS / (time.monotonic() - start))


def wants(what):
    return len(sys.argv) > 1 and sys.argv[1] == what
