"""Brings the compose cluster up, pushes work from outside, and does to it what happens to clusters.

usage: cluster.py [--built DIRECTORY] [--topology server|cluster|sentinel] [--jobs N] [--json]

Worker containers are killed and paused, Redis is restarted, workers come and go. With a topology of several servers, a
master is killed and replaced by its replica, another one is cut off from the network, and in a cluster the slot of the queue is
moved with the jobs in it; pushes then wait for a replica. Each run of a job writes a line into a ledger outside Redis; at the end each
accepted job must be in it, no other job may be, nothing may be stuck or dead, and the doctor must find nothing. A fault that did not strike makes the run invalid.
Before that the producer that docker-compose starts has to have its jobs done, and is stopped: the ledger knows nothing of them.

Without --built the image is built as docker-compose.yml says, which takes ten minutes and more; with it, from executables that are there.
"""
import argparse, json, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, threading, time, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = "errand-cluster-test"
EXECUTABLES = ["errand", "errand-worker", "errand-producer", "errand-dashboard"]
# All but the producer, which would start again with the others.
SERVICES = ["redis", "worker", "dashboard"]
# Containers of servers, which are restarted or lost.
SERVERS = {
    "server": ["redis"],
    "cluster": [f"redis{suffix}" for suffix in ("", "-2", "-3", "-4", "-5", "-6")],
    "sentinel": ["redis", "redis-2"],
}
# A container of its own, which pushes what comes on standard input.
PUSHING = ["run", "--rm", "-T", "--entrypoint", "errand-producer", "producer", "push", "--from", "-", "--json"]
CATALOGUE = """operations:
  note:
    run: [sh, -c, 'sleep 0.2; echo "$ERRAND_JOB_ID $ERRAND_TOKEN" >> "/ledger/$(hostname)"']
    timeout: 20s
    retries: 3
  checksum:
    run: [sha256sum, --, "{path}"]
    timeout: 30s
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Cluster:
    def __init__(self, place, topology):
        self.place, self.topology = place, topology
        overlay = [] if topology == "server" else ["-f", str(ROOT / f"deploy/{topology}/docker-compose.yml")]
        self.files = ["-f", str(ROOT / "docker-compose.yml"), *overlay, "-f", str(ROOT / "Tests/Cluster/override.yml")]
        # What a failover may lose is not accepted.
        self.pushing = PUSHING + ([] if topology == "server" else ["--replicas", "1"])
        self.ledger = place / "ledger"
        self.ledger.mkdir()
        self.ledger.chmod(0o777)
        place.chmod(0o755)
        (place / "catalogue.yaml").write_text(CATALOGUE)
        self.port = free_port()
        self.environment = os.environ | {
            "CLUSTER_DIRECTORY": str(place), "ERRAND_DASHBOARD_PORT": str(self.port), "ERRAND_DASHBOARD_PASSWORD": "cluster-test"}
        self.compose_words = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]

    def compose(self, *words, **more):
        return self.call(*self.compose_words, "-p", PROJECT, *self.files, *words, env=self.environment, **more)

    @staticmethod
    def call(*words, check=True, **more):
        result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        if check and result.returncode != 0:
            sys.exit(f"{' '.join(words)} failed ({result.returncode}):\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
        return result

    def build(self, built):
        if not built:
            return self.compose("build", "worker")
        context = self.place / "image"
        (context / "bin").mkdir(parents=True)
        for name in EXECUTABLES:
            shutil.copy(pathlib.Path(built) / name, context / "bin" / name)
        shutil.copy(ROOT / "Tests/Cluster/Dockerfile", context / "Dockerfile")
        self.call("docker", "build", "-q", "-t", "errand-cluster-test", str(context))
        shutil.rmtree(context)

    def containers(self, service):
        return self.compose("ps", "-q", service).stdout.split()

    def console(self, *words, check=True):
        """The console, in a container that is there already."""
        dashboard = self.containers("dashboard")[0]
        return self.call("docker", "exec", dashboard, "errand", *words, check=check)

    def workers(self):
        """The sessions that the broker knows, once it answers."""
        answer = self.console("status", "--json", check=False)
        return json.loads(answer.stdout)["workers"] if answer.returncode == 0 else []

    def holder(self):
        """A worker's container that runs jobs, as far as the broker knows; none if all are idle."""
        busiest = max(self.workers(), key=lambda worker: worker["running"], default=None)
        if not busiest or not busiest["running"]:
            return None
        return next((id for id in self.containers("worker") if id.startswith(busiest["host"])), None)

    def redis(self, service, *words):
        """What a server answers; nothing if it is not there."""
        containers = self.containers(service)
        answer = self.call("docker", "exec", containers[0], "redis-cli", *words, check=False) if containers else None
        return answer.stdout.strip() if answer and answer.returncode == 0 else ""

    def master(self):
        """The service that has the queue's keys now."""
        for service in SERVERS[self.topology]:
            if "role:master" not in self.redis(service, "info", "replication"):
                continue
            if self.topology != "cluster" or not self.redis(service, "get", "{default}").startswith("MOVED"):
                return service
        return None

    def has_other_master(self, lost):
        """Whether another server than a master that is cut off, and does not know it, has the queue's keys."""
        others = [service for service in SERVERS[self.topology] if service != lost]
        return any(
            "role:master" in self.redis(service, "info", "replication")
            and not self.redis(service, "get", "{default}").startswith("MOVED") for service in others)

    def address(self, container):
        """The network of a container, and its address there."""
        networks = json.loads(self.call("docker", "inspect", "-f", "{{json .NetworkSettings.Networks}}", container).stdout)
        network, settings = next(iter(networks.items()))
        return network, settings["IPAddress"]

    def cut_off(self, container):
        network, address = self.address(container)
        self.call("docker", "network", "disconnect", network, container)
        return network, address

    def queue(self):
        status = json.loads(self.console("status", "--queue", "default", "--json").stdout)
        return status["queues"][0]

    def until(self, what, seconds, look):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(0.5)
        logs = self.compose("logs", "--tail", "20", check=False)
        sys.exit(f"not within {seconds} s: {what}\n{logs.stdout[-4000:]}{logs.stderr[-1000:]}")

    def lines(self):
        return [line.split() for file in self.ledger.iterdir() for line in file.read_text().splitlines()]

    def down(self):
        self.compose("down", "-v", "--remove-orphans", "-t", "5", check=False)


class Producer(threading.Thread):
    """Pushes jobs one after the other, from outside of every worker, and keeps the receipts."""

    def __init__(self, cluster, jobs, a_second):
        super().__init__()
        self.receipts = []
        self.pushed = 0
        self.cluster, self.jobs, self.pause = cluster, jobs, 1 / a_second
        words = [*cluster.compose_words, "-p", PROJECT, *cluster.files, *cluster.pushing]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=cluster.environment)
        self.reader = threading.Thread(target=lambda: self.receipts.extend(json.loads(line) for line in self.process.stdout))
        self.reader.start()

    def run(self):
        for number in range(self.jobs):
            self.process.stdin.write(json.dumps({"operation": "note", "id": f"job-{number}"}) + "\n")
            self.process.stdin.flush()
            self.pushed += 1
            time.sleep(self.pause)
        self.process.stdin.close()
        self.process.wait()
        self.reader.join()

    def outcomes(self):
        return {receipt["id"]: receipt["outcome"] for receipt in self.receipts}

    def push_unknown_again(self):
        """What the answer was lost of, while Redis was away, is pushed again with its id, as the documentation says."""
        unknown = [id for id, outcome in self.outcomes().items() if outcome == "unknown"]
        if not unknown:
            return
        say(f"pushing {len(unknown)} again whose answer was lost")
        lines = "".join(json.dumps({"operation": "note", "id": id}) + "\n" for id in unknown)
        answer = self.cluster.compose(*self.cluster.pushing, input=lines)
        self.receipts.extend(json.loads(line) for line in answer.stdout.splitlines())


def say(text):
    print(f"cluster: {text}", file=sys.stderr, flush=True)


def inject(cluster, producer, injected):
    """The faults, one after the other, while work comes in."""
    def work_goes_on():
        before = len(cluster.lines())
        cluster.until("work goes on", 60, lambda: len(cluster.lines()) > before + 10 or not producer.is_alive())

    kill_until_jobs_come_back(cluster, injected, work_goes_on)
    paused = cluster.containers("worker")[0]
    cluster.call("docker", "pause", paused)
    say(f"paused worker {paused[:12]} for longer than its lease")
    time.sleep(8)
    cluster.call("docker", "unpause", paused)
    injected["paused"] += 1
    work_goes_on()
    if cluster.topology == "server":
        cluster.call("docker", "restart", "-t", "5", cluster.containers("redis")[0])
        injected["restarted"] += 1
        say("restarted Redis")
        work_goes_on()
    else:
        lose_masters(cluster, injected, work_goes_on)
    if cluster.topology == "cluster":
        move_the_slot(cluster, injected, work_goes_on)
    for count in [6, 1, 3]:
        cluster.compose("up", "-d", "--no-build", "--no-recreate", "--scale", f"worker={count}", *SERVICES)
        injected["scaled"] += 1
        say(f"scaled to {count}")
        cluster.until(f"{count} workers serve", 60, lambda: len(cluster.workers()) == count)
        work_goes_on()


def lose_masters(cluster, injected, work_goes_on):
    """Kills the queue's master, and cuts its successor off: each time a replica takes over."""
    for how in ["killed", "cut"]:
        lost = cluster.until("the queue has a master", 60, cluster.master)
        container = cluster.containers(lost)[0]
        cluster.until("a replica follows it", 60, lambda: "state=online" in cluster.redis(lost, "info", "replication"))
        say(f"{how} master {lost}")
        if how == "killed":
            cluster.call("docker", "kill", "--signal", "KILL", container)
        else:
            network, address = cluster.cut_off(container)
        injected[f"master {how}"] += 1
        cluster.until("a replica has taken over", 60, lambda: cluster.master() not in (None, lost) if how == "killed" else cluster.has_other_master(lost))
        work_goes_on()
        if how == "killed":
            cluster.call("docker", "start", container)
        else:
            cluster.call("docker", "network", "connect", "--ip", address, network, container)
        cluster.until("it follows the new master", 60, lambda: "role:slave" in cluster.redis(lost, "info", "replication"))


def move_the_slot(cluster, injected, work_goes_on):
    """Moves the slot of the queue to another master, key by key."""
    source = cluster.until("the queue has a master", 60, cluster.master)
    target = next(service for service in SERVERS["cluster"] if service != source and "role:master" in cluster.redis(service, "info", "replication"))
    slot = cluster.redis(source, "cluster", "keyslot", "{default}")
    ids = {service: cluster.redis(service, "cluster", "myid") for service in (source, target)}
    place = cluster.address(cluster.containers(target)[0])[1]
    cluster.redis(target, "cluster", "setslot", slot, "importing", ids[source])
    cluster.redis(source, "cluster", "setslot", slot, "migrating", ids[target])
    while keys := cluster.redis(source, "cluster", "getkeysinslot", slot, "100").splitlines():
        answer = cluster.redis(source, "migrate", place, "6379", "", "0", "10000", "keys", *keys)
        if answer not in ("OK", "NOKEY"):
            sys.exit(f"the slot cannot be moved: {answer}")
    for service in (target, source):
        cluster.redis(service, "cluster", "setslot", slot, "node", ids[target])
    injected["moved"] += 1
    say(f"moved the slot of the queue from {source} to {target}")
    work_goes_on()


def kill_until_jobs_come_back(cluster, injected, work_goes_on):
    """Three kills, and more while none of them met a worker that held a job: whoever is idle at that moment loses nothing."""
    round = 0
    while round < 3 or (round < 12 and cluster.queue()["totals"]["recovered"] == 0):
        victim = cluster.holder() or cluster.containers("worker")[round % len(cluster.containers("worker"))]
        cluster.call("docker", "kill", "--signal", "KILL", victim)
        injected["killed"] += 1
        round += 1
        say(f"killed worker {victim[:12]}")
        work_goes_on()
        # Its lease has passed before the next one is chosen, so that what it held has come back.
        cluster.until("the killed worker's session is gone", 30, lambda: all(victim[:12] != worker["host"] for worker in cluster.workers()))
        cluster.call("docker", "start", victim)


def check_pages(cluster):
    """The dashboard answers from outside, and not to everybody."""
    for path, expected in [("/healthz", 200), ("/readyz", 200), ("/", 401)]:
        try:
            status = urllib.request.urlopen(f"http://127.0.0.1:{cluster.port}{path}", timeout=10).status
        except urllib.error.HTTPError as error:
            status = error.code
        if status != expected:
            sys.exit(f"the dashboard answered {status} to {path}, and not {expected}")


def check_producer(cluster):
    """The producer that comes with the cluster pushes jobs that are done, and ends when it is told to, not when it is killed."""
    cluster.until("a job of the cluster's own producer has finished", 60, lambda: cluster.queue()["totals"]["finished"] > 0)
    producer = cluster.containers("producer")[0]
    cluster.compose("stop", "producer")
    status = cluster.call("docker", "inspect", "-f", "{{.State.ExitCode}}", producer).stdout.strip()
    if status != "0":
        sys.exit(f"the cluster's own producer was told to stop and ended with {status}")


def judge(cluster, producer, injected, began):
    accepted = {id for id, outcome in producer.outcomes().items() if outcome in ("accepted", "exists")}
    ran = [line[0] for line in cluster.lines() if line]
    queue = cluster.queue()
    doctor = cluster.console("doctor", "--json", check=False)
    return {
        "scenario": cluster.topology, "injected": sum(injected.values()), "jobs": len(accepted), "lost": len(accepted - set(ran)),
        "unexpected": len(set(ran) - {f"job-{n}" for n in range(producer.pushed)}), "duplicates": len(ran) - len(set(ran)),
        "stuck": sum(queue[key] for key in ("ready", "running", "scheduled", "retrying")), "dead": queue["dead"],
        "doctor": doctor.returncode, "seconds": round(time.monotonic() - began),
        # Whoever was killed or paused held jobs, and others took them back.
        "valid": all(injected.values()) and len(accepted) == producer.pushed == producer.jobs and queue["totals"]["recovered"] > 0,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--built", help="take the executables of this directory instead of building the image")
    parser.add_argument("--topology", choices=SERVERS, default="server")
    parser.add_argument("--jobs", type=int, default=2500)
    parser.add_argument("--json", action="store_true", help="one line of JSON on standard output")
    options = parser.parse_args()
    # So that no containers are left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    # Beside the project: a Docker engine may see another /tmp.
    place = pathlib.Path(tempfile.mkdtemp(prefix=".cluster-", dir=ROOT / ".build" if (ROOT / ".build").is_dir() else ROOT))
    cluster = Cluster(place, options.topology)
    faults = {"server": ["restarted"], "cluster": ["master killed", "master cut", "moved"], "sentinel": ["master killed", "master cut"]}
    injected = dict.fromkeys(["killed", "paused", "scaled", *faults[options.topology]], 0)
    try:
        cluster.down()
        say("building the image")
        cluster.build(options.built)
        say("docker-compose up")
        cluster.compose("up", "-d", "--no-build")
        cluster.until("three workers serve", 90, lambda: len(cluster.workers()) == 3)
        check_pages(cluster)
        check_producer(cluster)
        producer = Producer(cluster, options.jobs, 30)
        producer.start()
        cluster.until("work begins", 60, lambda: len(cluster.lines()) > 5)
        inject(cluster, producer, injected)
        say("waiting for the producer and for what is left")
        producer.join()
        producer.push_unknown_again()
        cluster.until("the queue is empty", 120, lambda: not any(cluster.queue()[key] for key in ("ready", "running", "scheduled", "retrying")))
        check_pages(cluster)
        result = judge(cluster, producer, injected, began)
    finally:
        cluster.down()
        shutil.rmtree(place, ignore_errors=True)
    good = result["valid"] and not any(result[key] for key in ("lost", "unexpected", "stuck", "dead", "doctor"))
    if options.json:
        print(json.dumps(result, separators=(",", ":")))
    else:
        print("  ".join(f"{key} {value}" for key, value in result.items()))
        print("nothing lost, nothing stuck" if good else "NOT as it must be")
    sys.exit(0 if good else 1)


main()
