"""What a client in another language needs: commands and replies of Redis, and the envelope of docs/format.md."""
import json


class Refused(Exception):
    """An error that the server replied."""


def call(connection, stream, *arguments):
    words = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    return read(stream)


def read(stream):
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"-":
        raise Refused(rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return stream.read(int(rest) + 2)[:-2].decode() if rest != b"-1" else None
    if kind == b"*":
        return [read(stream) for _ in range(int(rest))]
    if kind != b"+":
        raise ConnectionError("the server closed the connection")
    return rest.decode()


def envelope(job, queue, operation, arguments, policy="i", name=None, timeout=None):
    description = {"v": 1, "operation": operation, "arguments": arguments, "queue": queue, "id": job}
    description["unique"] = {"i": "ignore", "d": "drop", "r": "replace"}[policy]
    if name:
        description["name"] = name
    if timeout:
        description["timeout_ms"] = timeout
    fragment = '"operation":%s,"name":%s' % (json.dumps(operation), json.dumps(name))
    return ("1%s5;%s;;%d\n" % (policy, timeout or "", len(fragment)) + fragment + json.dumps(description)).encode()
