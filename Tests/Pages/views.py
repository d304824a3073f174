#!/usr/bin/env python3
"""Times every view of the console and the dashboard on a queue with a large backlog, and what their commands cost Redis.

usage: views.py [--waiting N] [--dead N] [--queues N] [--schedules N] [--built DIRECTORY] [--json]

Beside the large queue there are small ones, workers, schedules, workflows, and jobs that have ended.

A view is to answer in 300 ms, and no command is to take Redis more than 10 ms: exit status 1 otherwise. The time of a console view is that of the whole process.
An export may take as long as it likes; its commands may not.
"""
import argparse, itertools, json, math, os, pathlib, signal, statistics, subprocess, sys, tempfile, time, urllib.parse, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Moves jobs from their line among the dead, with an error each, as their worker's reports would.
BURY = """
local ids = redis.call('LPOP', KEYS[1] .. ':ready:5', ARGV[1])
for i, id in ipairs(ids or {}) do
  local at = 1700000000000 + i
  local event = '{"event":"dead","id":"' .. id .. '","operation":"work","name":null,"queue":"default","attempt":1,"worker":"w","at_ms":' .. at
    .. ',"duration_ms":3,"error":"no such file: report ' .. i % 100 .. '"}'
  redis.call('ZADD', KEYS[1] .. ':dead', at, id)
  redis.call('HSET', KEYS[1] .. ':errors', id, event)
end
return #(ids or {})
"""
CONSOLE = [
    ["status"], ["status", "--json"], ["jobs", "--limit", "50"], ["jobs", "--state", "dead", "--limit", "50"],
    ["jobs", "--state", "dead", "--by-error"], ["jobs", "--state", "dead", "--by-error", "--json"], ["jobs", "--state", "ready", "--limit", "500"],
    ["jobs", "--operation", "nothing"], ["jobs", "--state", "dead", "--error", "no such thing"], ["jobs", "--name-contains", "zzz"],
    ["jobs", "--state", "ready", "--from", "DEEP"], ["jobs", "--state", "cancelled"],
    ["jobs", "--json", "--operation", "work"], ["jobs", "--json", "--state", "dead", "--error", "report 7"],
    ["job", "show", "job-5"], ["job", "show", "LATE"], ["schedule", "list"], ["worker-check"],
    ["workflow", "list", "--limit", "1000"], ["workflow", "list", "--limit", "1000", "--json"], ["workflow", "show", "WIDE"], ["workflow", "show", "HUGE"],
]
PAGES = [
    "/", "/queues/default", "/queues/default/groups", "/jobs", "/jobs?state=dead", "/jobs?state=ready", "/jobs?operation=nothing", "/jobs?state=dead&error=no+such+thing",
    "/jobs?state=dead&group=no+such+file%3A+report+%23", "/jobs?state=dead&from=OLD", "/jobs?state=dead&arguments=nothing", "/jobs?state=running",
    "/jobs?name=zzz", "/jobs?arguments=zzz", "/jobs?state=ready&from=DEEP", "/jobs?state=cancelled", "/queues/default/jobs/job-5", "/queues/default/jobs/LATE", "/actions", "/workers", "/schedules", "/schedules/edit", "/schedules/edit?queue=default&name=schedule-7", "/push", "/events", "/metrics", "/scale?queue=default", "/healthz",
    "/workflows", "/workflows/WIDE", "/workflows/HUGE",
]
# What the dashboard asks before it acts on all that match: nothing is confirmed.
QUESTIONS = [
    {"action": "cancel", "scope": "matching", "operation": "work"},
    {"action": "cancel", "scope": "matching", "queue": "default", "state": "ready", "operation": "nothing"},
    {"action": "delete", "scope": "matching", "state": "dead"},
    {"action": "delete", "scope": "matching", "state": "dead", "error": "report 7"},
    {"action": "retry", "scope": "matching", "state": "dead", "group": "no such file: report #"},
]
EXPORTED = 10_000


class Scene:
    def __init__(self, place, built):
        self.place, self.built = place, pathlib.Path(built)
        self.socket = str(place / "s")
        self.children = []
        self.start("redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", str(place), "--save", "", "--appendonly", "no",
                   "--slowlog-log-slower-than", "0", "--slowlog-max-len", "100000", "--maxmemory-policy", "noeviction")
        self.environment = os.environ | {"ERRAND_REDIS_URL": f"unix://{self.socket}"}
        while self.redis("PING", check=False) != "PONG":
            if self.children[0].poll() is not None:
                sys.exit("redis-server did not start")
            time.sleep(0.05)

    def start(self, *words, **more):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, **more)
        self.children.append(child)
        return child

    def redis(self, *words, check=True):
        return subprocess.run(["redis-cli", "-s", self.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=check).stdout.strip()

    def fill(self, waiting, dead):
        self.dead = dead
        producer = subprocess.Popen([self.built / "errand-producer", "push", "--from", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self.environment, text=True)
        for number in range(waiting + dead):
            producer.stdin.write('{"operation":"work","id":"job-%d","arguments":{"number":%d,"text":"%s"}}\n' % (number, number, "x" * 60))
        producer.stdin.close()
        if producer.wait() != 0:
            sys.exit("the jobs could not be pushed")
        buried = 0
        while buried < dead:
            buried += int(self.redis("EVAL", BURY, "1", "errand:{default}", str(min(1000, dead - buried))))

    def surround(self, queues, schedules, cancelled):
        """What else there is where a queue is large."""
        lines = "".join('{"operation":"work","queue":"small-%d"}\n' % number for number in range(queues))
        self.run("errand-producer", "push", "--from", "-", input=lines)
        for number in range(schedules):
            self.run("errand", "schedule", "add", f"schedule-{number}", "work", "--every", "1d")
        self.run("errand", "job", "cancel", *[f"job-{number}" for number in cancelled])
        catalogue = self.place / "catalogue.yaml"
        catalogue.write_text("operations: {other: {run: [cat]}}\n")
        # They do not know the operation of what waits, and their queue is another one.
        for _ in range(3):
            self.start(str(self.built / "errand-worker"), "--catalogue", str(catalogue), "--queue", "idle", stderr=subprocess.DEVNULL, env=self.environment)

    def push_workflows(self, count):
        """So many small workflows, one of 500 jobs, and one of about 10,000; returns the ids of these two."""
        for _ in range(count):
            self.push_workflow(4)
        return self.push_workflow(498), self.push_workflow(9998)

    def push_workflow(self, width):
        """A job, so many after it, and one after all of those."""
        middle = [f"middle-{number}" for number in range(width)]
        # At most 1,000 jobs come after one.
        firsts = [f"first-{number}" for number in range(0, width, 1000)]
        jobs = {first: {"operation": "work"} for first in firsts}
        jobs |= {key: {"operation": "work", "after": [firsts[number // 1000]]} for number, key in enumerate(middle)}
        jobs["last"] = {"operation": "work", "after": middle}
        file = self.place / "workflow.json"
        file.write_text(json.dumps({"workflow": f"of {width}", "queue": "flows", "jobs": jobs}))
        return json.loads(self.run("errand-producer", "push", "--workflow", str(file), "--json").stdout)["workflow"]

    def run(self, tool, *words, **more):
        result = subprocess.run([self.built / tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True, **more)
        if result.returncode not in (0, 1):
            sys.exit(f"{tool} {' '.join(words[:3])} ended with {result.returncode}: {result.stderr}")
        return result

    def export(self, lines):
        """Reads the first lines of what `errand jobs export` writes of the dead jobs, or all where there are fewer."""
        words = [str(self.built / "errand"), "jobs", "export", "--state", "dead"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment) as export:
            read = sum(1 for _ in itertools.islice(export.stdout, lines))
            export.terminate()
        if read < min(lines, self.dead):
            sys.exit(f"only {read} jobs were exported")

    def dashboard(self):
        log = self.place / "dashboard.log"
        child = self.start(str(self.built / "errand-dashboard"), "--port", "0", "--allow-actions", stderr=open(log, "w"), env=self.environment)
        while child.poll() is None:
            for line in log.read_text().splitlines():
                if line.startswith("dashboard: http"):
                    return line.split()[1].rstrip("/")
            time.sleep(0.05)
        sys.exit(f"the dashboard did not start: {log.read_text()}")

    def slowest(self):
        """The command that took the server longest since the last time, in milliseconds."""
        entries = json.loads(self.redis_json("SLOWLOG", "GET", "-1"))
        self.redis("SLOWLOG", "RESET")
        commands = [(entry[2] / 1000, " ".join(map(str, entry[3][:1] + entry[3][3:6]))[:80]) for entry in entries if entry[3][0] not in ("SLOWLOG", "PING")]
        return max(commands, default=(0, ""))

    def redis_json(self, *words):
        return subprocess.run(["redis-cli", "-s", self.socket, "--json", *words], stdout=subprocess.PIPE, text=True, check=True).stdout

    def close(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            child.wait()


def timed(look, times=5):
    durations = []
    for _ in range(times):
        began = time.monotonic()
        look()
        durations.append((time.monotonic() - began) * 1000)
    return statistics.median(durations), max(durations)


def look_at_page(address):
    # The event page is a stream beside it; the page itself ends.
    with urllib.request.urlopen(address, timeout=30) as answer:
        answer.read()


def look_at_question(address, fields):
    # As a browser says where the form is from.
    form = urllib.parse.urlencode(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(address + "/jobs/act", form, {"Origin": address}), timeout=30) as answer:
        if b'name="confirmed"' not in answer.read():
            sys.exit(f"the dashboard does not ask before it does {fields}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--dead", type=int, default=100_000)
    parser.add_argument("--queues", type=int, default=100, help="small queues beside the large one")
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--workflows", type=int, default=1000)
    parser.add_argument("--built", default=str(ROOT / ".build/release"))
    parser.add_argument("--json", action="store_true", help="a line of JSON for each view")
    options = parser.parse_args()
    if options.waiting < 10:
        parser.error("--waiting must be 10 or more")
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        scene = Scene(pathlib.Path(place), options.built)
        try:
            print(f"filling: {options.waiting} waiting, {options.dead} dead", file=sys.stderr)
            scene.fill(options.waiting, options.dead)
            # Those that were pushed first are dead. Of the others, some are cancelled behind the first tenth, and the last tenth is what is deep in the line.
            tenth, deep = options.waiting // 10, options.waiting * 9 // 10
            scene.surround(options.queues, options.schedules, range(options.dead + tenth, options.dead + tenth + min(1000, tenth)))
            wide, huge = scene.push_workflows(options.workflows)
            address = scene.dashboard()

            def placed(text):
                text = text.replace("WIDE", wide).replace("HUGE", huge)
                return text.replace("DEEP", f"default:ready:{deep}").replace("LATE", f"job-{options.dead + deep}").replace("OLD", f"newest:{1700000000000 + options.dead // 2}:default:job-5")

            console = [[placed(word) for word in words] for words in CONSOLE]
            pages = [placed(page) for page in PAGES]
            views = [("errand " + " ".join(words), lambda words=words: scene.run("errand", *words), 300) for words in console]
            views += [("GET " + page, lambda page=page: look_at_page(address + page), 300) for page in pages]
            views += [("POST /jobs/act " + urllib.parse.urlencode(fields), lambda fields=fields: look_at_question(address, fields), 300) for fields in QUESTIONS]
            views.append((f"errand jobs export --state dead, {EXPORTED} lines", lambda: scene.export(EXPORTED), math.inf))
            scene.slowest()
            for name, look, limit in views:
                median, longest = timed(look)
                command, what = scene.slowest()
                good = longest < limit and command < 10
                bad += not good
                if options.json:
                    print(json.dumps({"view": name, "median_ms": round(median, 1), "longest_ms": round(longest, 1), "command_ms": round(command, 2), "good": good}))
                else:
                    print(f"{'ok ' if good else 'NOT'}  {median:7.1f} ms  longest {longest:7.1f} ms  slowest command {command:6.2f} ms  {name}{'' if good else '   ' + what}")
        finally:
            scene.close()
    sys.exit(1 if bad else 0)


main()
