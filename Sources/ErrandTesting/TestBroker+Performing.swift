public import Errand
import Logging

/// Runs jobs when the test asks for it.
extension TestBroker {
    /// Runs a worker on this broker during a test, and then stops it.
    ///
    /// The worker claims no jobs until the test calls ``performNext()``, ``perform(_:options:)`` or ``drain()``.
    ///
    /// - Throws: The error of the test or the worker.
    public func running<Value>(_ worker: Worker, _ test: () async throws -> Value) async throws -> Value {
        try await during(worker, test)
    }

    /// Runs a worker on this broker during a test, and then stops it: the other `running`, for tests of one statement
    /// whose type the compiler does not find.
    ///
    /// - Throws: The error of the test or the worker.
    public func running(_ worker: Worker, _ test: () async throws -> Void) async throws {
        try await during(worker, test)
    }

    private func during<Value>(_ worker: Worker, _ test: () async throws -> Value) async throws -> Value {
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

    /// Lets a worker run the next job, and waits until that run has ended.
    ///
    /// - Returns: The job's state after the run with its error: finished, dead, cancelled, or retrying if it failed and
    ///   has retries left. `nil` if there is no ready job whose operation the worker has.
    /// - Throws: ``NoWorker`` if no worker runs, `BrokerError` if the broker rejects a call.
    @discardableResult
    public func performNext() async throws -> JobEnding? {
        try await awaitWorker()
        try await settle()
        gate.open(for: 1)
        defer { gate.close() }
        guard let run = await gate.awaitEnd() else { return nil }
        return try await memory.inspect([run.id], on: run.queue).first?.map { JobEnding($0) }
    }

    /// Pushes a job and lets a worker run the next job, which is the pushed one if no other is ready.
    @discardableResult
    public func perform<Parameters: JobParameters>(
        _ parameters: Parameters,
        options: PushOptions = PushOptions()
    ) async throws -> JobEnding? {
        try await producer().push(parameters, options: options)
        return try await performNext()
    }

    /// Runs all ready jobs, and the jobs that those push, until none is ready. Jobs that are due later stay; see
    /// ``advance(by:)``.
    ///
    /// - Throws: ``NoWorker`` if no worker runs.
    public func drain() async throws {
        try await awaitWorker()
        try await settle()
        // More jobs than any test has, and too few for an overflow.
        gate.open(for: 1_000_000_000)
        defer { gate.close() }
        await gate.awaitQuiet()
    }

    /// Moves the clock forward. Due jobs become ready, schedules tick, and the leases of dead workers end.
    ///
    /// Live workers send heartbeats meanwhile, so that none of them loses its session. A worker that was just started has
    /// stored its schedules before the clock moves.
    public func advance(by duration: Duration) async throws {
        _ = await gate.awaitWorker()
        let lease = livingSessions.map(\.lease).min() ?? .seconds(30)
        // Steps shorter than half a lease, but at most about 2,000 of them.
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

    /// Does the queue maintenance that workers do about once a second.
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

    /// Waits until a worker listens; one that has just been started does so in a moment.
    private func awaitWorker() async throws {
        guard await gate.awaitWorker() else { throw NoWorker() }
    }
}

/// The error for a job that is to be performed while no worker runs on the broker.
public struct NoWorker: Error, Sendable, CustomStringConvertible {
    /// A sentence with the remedy.
    public var description: String { "no worker runs on this broker: call this within running(_:_:)" }
}
