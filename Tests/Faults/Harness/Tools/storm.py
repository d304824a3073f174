#!/usr/bin/env python3
"""Pushes many jobs of one name as fast as it can, by docs/wire.md and docs/format.md.

usage: storm.py SOCKET PUSH_LUA GO QUEUE POLICY OPERATION NAME PREFIX COUNT GATE
Says "ready", waits until the file GO is there, pushes COUNT jobs PREFIX-0, PREFIX-1, … whose argument `id` is their id,
and prints one line a job: its id and the answer.
"""
import os
import socket
import sys
import time

from wire import call, envelope


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
        body = envelope(job, queue, operation, {"id": job, "gate": gate}, policy, name, 600000)
        answer = call(connection, stream, "EVALSHA", digest, 2, "errand:{%s}" % queue, "errand:{%s}:gate" % queue, job, 0, policy, name, body)
        print("pushed", job, answer[1], flush=True)


main()
