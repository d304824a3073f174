public import Errand
import Logging

/// Running jobs when the test says so.
extension TestBroker {
    /// Runs a worker on this broker while the test does something, and then stops it.
    ///
    /// The worker claims nothing until the test calls ``performNext()``, ``perform(_:options:)`` or ``drain()``.
    ///
    /// - Throws: what the test or the worker throws.
    public func running<Value>(_ worker: Worker, _ test: () async throws -> Value) async throws -> Value {
        gate.workerBegins()
        let work = Task {
            defer { gate.workerEnds() }
            try await worker.run()
        }
        do {
            let value = try await test()
            gate.close()
            work.cancel()
            try await work.value
            return value
        } catch {
            gate.close()
            work.cancel()
            _ = await work.result
            throw error
        }
    }

    /// Lets a worker run the job that is next, and waits for the end of that run.
    ///
    /// - Returns: what became of the job: finished, dead, cancelled, or retrying when it failed and is to be tried again, with
    ///   its error; `nil` when no job is ready that the worker knows.
    /// - Throws: ``NoWorker`` when no worker runs, `BrokerError` when the broker refuses something.
    @discardableResult
    public func performNext() async throws -> JobEnding? {
        try await awaitWorker()
        try await settle()
        gate.open(for: 1)
        defer { gate.close() }
        guard let run = await gate.awaitEnd() else { return nil }
        return try await memory.inspect([run.id], on: run.queue).first?.map { JobEnding($0) }
    }

    /// Pushes a job and lets a worker run the job that is next: that one, when nothing else is ready.
    @discardableResult
    public func perform<Parameters: JobParameters>(
        _ parameters: Parameters,
        options: PushOptions = PushOptions()
    ) async throws -> JobEnding? {
        try await producer().push(parameters, options: options)
        return try await performNext()
    }

    /// Lets the workers run everything that is ready, and what that pushes, until nothing is. What is due later stays:
    /// ``advance(by:)``.
    ///
    /// - Throws: ``NoWorker`` when no worker runs.
    public func drain() async throws {
        try await awaitWorker()
        try await settle()
        // More than any test has, and nothing that could overflow.
        gate.open(for: 1_000_000_000)
        defer { gate.close() }
        await gate.awaitQuiet()
    }

    /// Moves the clock forward. Jobs that are due come into line, schedules tick, and the leases of workers that died end.
    ///
    /// Living workers beat on the way, so that none of them loses its session.
    public func advance(by duration: Duration) async throws {
        let lease = livingSessions.map(\.lease).min() ?? .seconds(30)
        // In steps shorter than half a lease, as long as that does not take forever.
        let step = max(lease / 4, duration / 2000)
        var rest = duration
        while rest > .zero {
            clock.advance(by: min(step, rest))
            rest -= step
            for session in livingSessions {
                for queue in session.queues { _ = memory.beat(of: session, on: queue, begun: 0) }
            }
        }
        try await settle()
    }

    /// Does the upkeep that workers do about once a second.
    private func settle() async throws {
        for queue in try await memory.queues() {
            while try await recover(on: queue).hasMore {}
            let ticks = try await promote(on: queue).hasDueSchedules
            if ticks {
                _ = try await Ticker(self, queue: queue, logger: Logger(label: "errand.testing")).work()
            }
            while try await promote(on: queue).promoted > 0 {}
        }
    }

    /// A worker that has just been started listens in a moment.
    private func awaitWorker() async throws {
        guard await gate.awaitWorker() else { throw NoWorker() }
    }
}

/// A job was to be performed, but no worker runs on the broker.
public struct NoWorker: Error, Sendable, CustomStringConvertible {
    /// A sentence that says what to do.
    public var description: String { "no worker runs on this broker: call this within running(_:_:)" }
}
