#!/usr/bin/env python3
"""A child of an errand-worker: takes one job after the other from standard input, and reports on standard output.

    operations:
      shout:
        serve: [python3, shout.py]
        instances: 4
"""
import json
import sys


def shout(arguments, report):
    report(progress=0.5, message="breathing in")
    return {"text": arguments["text"].upper()}


for line in sys.stdin:
    job = json.loads(line)

    def report(**what):
        print(json.dumps({"id": job["id"], "token": job["token"], **what}), flush=True)

    try:
        report(outcome="finished", result=shout(job["arguments"], report))
    except KeyError as missing:
        report(outcome="failed", error=f"the argument {missing} is missing", final=True)
    except Exception as problem:
        report(outcome="failed", error=repr(problem))
