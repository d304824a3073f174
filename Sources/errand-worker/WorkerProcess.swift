import ArgumentParser
import Backgroundable
import Errand
import ErrandCatalogue
import ErrandCommandLine
import Foundation
import Synchronization

/// How a worker's process ends before its work does: by a signal, or because its handlers do not return.
final class WorkerProcess: Sendable {
    private struct State {
        var worker: Worker?
        /// The exit status of an immediate stop, once there is one.
        var status: Int32?
        var isStuck = false
    }

    /// What the worker has for its last words to the broker, and a second more for the process itself.
    private static let longestStop = 2.0
    private static let longestKill = Duration.milliseconds(900)

    private let state = Mutex(State())
    private let reporter: WorkerReporter

    init(reporter: WorkerReporter) { self.reporter = reporter }

    /// Kills the commands that still run, and waits until they are gone. Answers whether they are.
    static func endCommands() async -> Bool { await ChildProcesses.shared.endAll(within: longestKill) }

    /// Runs a worker until it has ended. Answers the exit status of an immediate stop, if there was one.
    func run(_ worker: Worker) async throws -> Int32? {
        state.withLock { $0.worker = worker }
        StopSignals.listen { [self] request, signal in
            switch request {
            case .graceful:
                worker.beginShutdown()
                reporter.tellStopping()
            case .immediate: stopNow(status: 128 + signal)
            }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await worker.run()) } catch { outcome = .failure(error) }
        if let status = state.withLock({ $0.status }) { return status }
        try outcome.get()
        return nil
    }

    /// Handlers do not return: ends the process after so long, whatever still runs then.
    func endStuck(after grace: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isStuck = true }
            return !state.isStuck
        }
        guard isFirst else { return }
        DedicatedThread.start("errand-stuck") { [self] in
            Thread.sleep(forTimeInterval: grace / .seconds(1))
            StandardError.write("error: stuck; ending without waiting any longer")
            stopNow(status: ExitStatus.stuck.rawValue)
        }
    }

    /// Stops what runs, and has it released: commands once they are killed and reaped, handlers last. The process ends in
    /// two seconds, however much of that could be done.
    private func stopNow(status: Int32) {
        let worker = state.withLock { state -> Worker? in
            guard state.status == nil else { return nil }
            state.status = status
            return state.worker
        }
        // First, so that the end of a command that is killed is no outcome of its job.
        guard let worker else { return }
        worker.stopNow()
        ChildProcesses.shared.endAll()
        DedicatedThread.start("errand-exit") {
            Thread.sleep(forTimeInterval: Self.longestStop)
            exit(status)
        }
    }
}
