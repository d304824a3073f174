#!/usr/bin/env python3
"""Pushes one job by docs/wire.md and docs/format.md, with nothing but a socket.

usage: push.py SOCKET PUSH_LUA QUEUE ID POLICY OPERATION ARGUMENTS_JSON [NAME]
Prints the answer as JSON.
"""
import json
import socket
import sys


def call(connection, *arguments):
    """One Redis command and its reply."""
    words = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    stream = connection.makefile("rb")
    return read(stream)


def read(stream):
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"-":
        raise SystemExit("refused: " + rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"+":
        return rest.decode()
    if kind == b"$":
        if rest == b"-1":
            return None
        data = stream.read(int(rest) + 2)[:-2]
        return data.decode()
    return [read(stream) for _ in range(int(rest))]


def envelope(description, policy):
    """The header, the fragment and the description, by docs/format.md."""
    fragment = '"operation":%s,"name":%s' % (
        json.dumps(description["operation"]),
        json.dumps(description.get("name"), ensure_ascii=False),
    )
    header = "1%s%d;;;%d\n" % (policy, description.get("priority", 5), len(fragment.encode()))
    return (header + fragment + json.dumps(description, ensure_ascii=False)).encode()


def main():
    path, script, queue, job, policy, operation, arguments = sys.argv[1:8]
    name = sys.argv[8] if len(sys.argv) > 8 else None
    description = {"v": 1, "operation": operation, "arguments": json.loads(arguments), "queue": queue, "id": job}
    description["unique"] = {"i": "ignore", "d": "drop", "r": "replace"}[policy]
    if name:
        description["name"] = name
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    with open(script, "rb") as file:
        text = file.read()
    answer = call(connection, "EVAL", text, 2, "errand:{%s}" % queue, "errand:{%s}:gate" % queue, job, 0, policy, name or "", envelope(description, policy))
    if answer[0] == 1:
        call(connection, "SADD", "errand:queues", queue)
    print(json.dumps(answer))


main()
