#!/usr/bin/env python3
"""Pushes jobs to a cluster by docs/wire.md, as the clients of other languages do: it follows MOVED and ASK by itself.

usage: foreign.py PORT,PORT,… CREDENTIALS PUSH_LUA END QUEUE OPERATION RATE [KEYS]
CREDENTIALS is `user:password@` or empty. Pushes RATE jobs a second until the file END is there, and prints one line a job: its id and
the answer. KEYS is the number of keys that it declares, 2 by default.
"""
import os
import socket
import sys
import time

import wire


class Cluster:
    """Connections to the servers of a cluster, and the one that the last MOVED named."""

    def __init__(self, ports, credentials):
        self.ports, self.at = ports, ports[0]
        self.user = credentials.rstrip("@").split(":", 1) if credentials else None
        self.connections = {}

    def connect(self, port):
        if port not in self.connections:
            connection = socket.create_connection(("127.0.0.1", port), 10)
            stream = connection.makefile("rb")
            if self.user:
                wire.call(connection, stream, "AUTH", *[part for part in self.user if part])
            self.connections[port] = connection, stream
        return self.connections[port]

    def call(self, *words):
        """Sends a command. It goes on as clients do: at once for MOVED and ASK, after a pause for TRYAGAIN."""
        port, asking = self.at, False
        while True:
            connection = self.connect(port)
            try:
                if asking:
                    wire.call(*connection, "ASKING")
                return wire.call(*connection, *words)
            except wire.Refused as error:
                kind, *rest = str(error).split()
                asking = kind == "ASK"
                if kind in ("MOVED", "ASK"):
                    port = int(rest[1].rsplit(":", 1)[1])
                    if kind == "MOVED":
                        self.at = port
                elif kind in ("TRYAGAIN", "CLUSTERDOWN"):
                    port = self.at
                    time.sleep(0.005)
                else:
                    raise


def main():
    ports, credentials, script, end, queue, operation, rate = sys.argv[1:8]
    keys = ["errand:{%s}" % queue, "errand:{%s}:gate" % queue][: int(sys.argv[8]) if len(sys.argv) > 8 else 2]
    with open(script, "rb") as file:
        text = file.read()
    cluster = Cluster([int(port) for port in ports.split(",")], credentials)
    start, number = time.monotonic(), 0
    while not os.path.exists(end):
        time.sleep(max(0, start + number / int(rate) - time.monotonic()))
        job = "foreign-%d" % number
        body = wire.envelope(job, queue, operation, {"id": job})
        answer = cluster.call("EVAL", text, len(keys), *keys, job, 0, "i", "", body)
        print("pushed", job, answer[1], flush=True)
        number += 1


main()
