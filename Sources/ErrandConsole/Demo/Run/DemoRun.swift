import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The demo from the first push to the last verified job.
struct DemoRun: Sendable {
    let home: TemporaryBroker
    let workers: WorkerProcesses
    let workerCount: Int
    let found: SourceFiles
    let display: DemoDisplay
    private let ledger = DemoLedger()
    private let jobs: DemoJobs

    init(home: TemporaryBroker, workers: WorkerProcesses, workerCount: Int, found: SourceFiles, display: DemoDisplay) {
        self.home = home
        self.workers = workers
        self.workerCount = workerCount
        self.found = found
        self.display = display
        jobs = DemoJobs(files: found.files)
    }

    /// Runs the demo.
    ///
    /// - Throws: An error if it is cancelled, or for a failure that is not part of the demonstration.
    func run() async throws -> DemoResult {
        tellWhatIsThere()
        for _ in 0..<workerCount { try workers.start() }
        let checker = DemoChecker(broker: home.broker, ledger: ledger)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            let (subscriptions, subscription) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                try await checker.listen { subscription.finish() }
                return false
            }
            group.addTask { try await watch() }
            group.addTask {
                for await _ in subscriptions {}
                try await awaitWorkers()
                try await work(checker)
                return true
            }
            while let isDone = try await group.next(), !isDone {}
            group.cancelAll()
        }
        try Task.checkCancellation()
        return try await result()
    }

    private func tellWhatIsThere() {
        display.tell("\(found.files.count.counted("file")) below \(found.directory)")
        if found.isCut { display.tell("there are more; --files changes the limit") }
        if found.unreadable > 0 { display.tell("left out because they cannot be read: \(found.unreadable.grouped)") }
        let passes = jobs.planned / found.files.count
        if passes > 1 { display.tell("so few that each is worked on \(passes) times, under as many names") }
    }

    private func awaitWorkers() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try await home.broker.status(of: DemoOperations.queue).sessions.count < workerCount {
            guard ContinuousClock.now < deadline else {
                throw CommandFailure("the demo's workers did not register within 60 s", ExitStatus.unavailable)
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        let pids = workers.living.map { String($0.pid) }.joined(separator: ", ")
        display.tell("worker processes: \(workerCount) (pids \(pids))")
    }

    /// Pushes the jobs, kills a worker in the middle, and verifies all results.
    private func work(_ checker: DemoChecker) async throws {
        let producer = DemoProducer(jobs: jobs, broker: home.broker, ledger: ledger)
        try await both({ try await checker.verify() }) {
            try await both({ try await producer.pushAll() }) { try await killInTheMiddle(producer) }
            ledger.notePushed()
        }
    }

    private func killInTheMiddle(_ producer: DemoProducer) async throws {
        while ledger.counts.ended < jobs.planned / 3 { try await Task.sleep(for: .milliseconds(1)) }
        try await WorkerKilling(broker: home.broker, workers: workers, producer: producer, display: display).run()
    }

    /// Runs two closures concurrently; the first failure cancels the other.
    private func both(
        _ one: @escaping @Sendable () async throws -> Void,
        _ other: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await one() }
            group.addTask { try await other() }
            for try await _ in group {}
        }
    }

    // MARK: Watching

    /// Draws the progress and replaces workers that exit unexpectedly, until it is cancelled.
    private func watch() async throws -> Bool {
        var replaced = 0
        while !Task.isCancelled {
            let counts = ledger.counts
            let expected = max(jobs.planned + DemoProducer.stuckJobs, counts.accepted)
            if counts.accepted > 0 { display.draw(done: counts.ended, of: expected) }
            for worker in workers.takeEnded() {
                display.tell("worker \(worker.number) (pid \(worker.pid)) ended by itself")
                replaced += 1
                guard replaced <= 3 else {
                    throw CommandFailure("the demo's workers end by themselves again and again", ExitStatus.unavailable)
                }
                try workers.start()
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private func result() async throws -> DemoResult {
        let totals = try await home.broker.status(of: DemoOperations.queue).queue.totals
        let counts = ledger.counts
        for remark in ledger.remarks { display.tell(remark) }
        return DemoResult(
            files: found.files.count,
            accepted: counts.accepted,
            dropped: counts.dropped,
            finished: totals["finished"],
            timedOut: totals["timed_out"],
            recovered: totals["recovered"],
            lost: counts.lost,
            wrong: counts.wrong,
            jobsPerSecond: Int(Double(totals["finished"]) / max(ledger.elapsed / .seconds(1), 0.001))
        )
    }
}
