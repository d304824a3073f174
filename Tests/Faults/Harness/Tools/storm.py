#!/usr/bin/env python3
"""Pushes many jobs of one name as fast as it can, by docs/wire.md and docs/format.md.

usage: storm.py SOCKET PUSH_LUA GO QUEUE POLICY OPERATION NAME PREFIX COUNT GATE
Says "ready", waits until the file GO is there, pushes COUNT jobs PREFIX-0, PREFIX-1, … whose argument `id` is their id,
and prints one line a job: its id and the answer.
"""
import json
import os
import socket
import sys
import time


def call(connection, stream, *arguments):
    words = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    return read(stream)


def read(stream):
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"-":
        raise SystemExit("refused: " + rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return stream.read(int(rest) + 2)[:-2].decode() if rest != b"-1" else None
    if kind == b"*":
        return [read(stream) for _ in range(int(rest))]
    return rest.decode()


def envelope(job, queue, policy, operation, name, gate):
    unique = {"d": "drop", "r": "replace"}[policy]
    description = {"v": 1, "operation": operation, "arguments": {"id": job, "gate": gate}, "queue": queue, "name": name}
    description.update(unique=unique, id=job, timeout_ms=600000)
    fragment = '"operation":%s,"name":%s' % (json.dumps(operation), json.dumps(name))
    return ("1%s5;600000;;%d\n" % (policy, len(fragment)) + fragment + json.dumps(description)).encode()


def main():
    path, script, go, queue, policy, operation, name, prefix, count, gate = sys.argv[1:11]
    with open(script, "rb") as file:
        text = file.read()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    stream = connection.makefile("rb")
    digest = call(connection, stream, "SCRIPT", "LOAD", text)
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.001)
    for number in range(int(count)):
        job = "%s-%d" % (prefix, number)
        body = envelope(job, queue, policy, operation, name, gate)
        answer = call(connection, stream, "EVALSHA", digest, 2, "errand:{%s}" % queue, "errand:{%s}:gate" % queue, job, 0, policy, name, body)
        print("pushed", job, answer[1], flush=True)


main()
