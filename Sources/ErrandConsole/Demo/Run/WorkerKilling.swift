import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A step that kills a worker process with claimed jobs, so that there are jobs to recover, and starts another.
struct WorkerKilling: Sendable {
    let broker: RedisBroker
    let workers: WorkerProcesses
    let producer: DemoProducer
    let display: DemoDisplay

    /// Kills a worker. It stops the process first and checks that it holds jobs, because the death of an idle one would
    /// show nothing.
    func run() async throws {
        for attempt in 0..<5000 where !workers.living.isEmpty {
            // At first, look for a worker that holds other jobs than those that never finish.
            let wanted = attempt < 300 ? DemoProducer.stuckJobs + 1 : 1
            guard let (victim, held) = try await stopOne(holding: wanted) else { continue }
            workers.kill(victim)
            display.tell("killed worker \(victim.number) (pid \(victim.pid)) while it held \(held.counted("job"))")
            let next = try workers.start()
            display.tell(
                "started worker \(next.number) (pid \(next.pid)) in its place; the dead one's lease ends in 2 s"
            )
            return try await awaitRecovery()
        }
        display.tell("could not catch a worker while it held jobs")
    }

    /// Stops the worker that holds the most jobs (SIGSTOP), and continues it if it holds fewer than wanted.
    private func stopOne(holding wanted: Int) async throws -> (WorkerProcess, held: Int)? {
        if producer.hasPushedAll, try await broker.status(of: DemoOperations.queue).queue.ready == 0 {
            try await producer.pushExtra(200)
        }
        let held = try await jobsHeld()
        let busiest = workers.living.max { held[$0.pid] ?? 0 < held[$1.pid] ?? 0 }
        guard let victim = busiest, let count = held[victim.pid], count >= wanted else {
            try await Task.sleep(for: .milliseconds(1))
            return nil
        }
        workers.signal(victim, SIGSTOP)
        // Commands that it sent before it stopped still arrive.
        try await Task.sleep(for: .milliseconds(30))
        if let rest = try await jobsHeld()[victim.pid], rest >= wanted { return (victim, rest) }
        workers.signal(victim, SIGCONT)
        return nil
    }

    /// Returns the number of jobs that each worker holds, by pid.
    private func jobsHeld() async throws -> [pid_t: Int] {
        let sessions = try await broker.status(of: DemoOperations.queue).sessions
        return Dictionary(sessions.map { (pid_t(clamping: $0.pid), $0.running) }, uniquingKeysWith: max)
    }

    /// Reports when the dead worker's jobs are recovered. If they are not, the figures show it.
    private func awaitRecovery() async throws {
        for _ in 0..<1000 {
            if try await broker.status(of: DemoOperations.queue).queue.totals["recovered"] > 0 {
                return display.tell("its lease has ended: its jobs are ready again")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
