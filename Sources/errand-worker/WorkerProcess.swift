import ArgumentParser
import Backgroundable
import Errand
import ErrandCatalogue
import ErrandCommandLine
import Foundation
import Synchronization

/// The end of a worker's process before its work is done: by a signal, or because handlers do not return.
final class WorkerProcess: Sendable {
    private struct State {
        var worker: Worker?
        /// The exit status of an immediate stop; `nil` until there is one.
        var status: Int32?
        var isStuck = false
    }

    /// The limit of an immediate stop in seconds: the time for the worker's last call, and one second more for the
    /// process.
    private static let longestStop = 2.0
    private static let longestKill = Duration.milliseconds(900)

    private let state = Mutex(State())
    /// Kills the commands that are still running and waits until they have exited. Returns whether all have.
    static func endCommands() async -> Bool { await ChildProcesses.shared.endAll(within: longestKill) }

    /// Runs a worker until it has ended. Returns the exit status of an immediate stop, if there was one.
    func run(_ worker: Worker) async throws -> Int32? {
        state.withLock { $0.worker = worker }
        StopSignals.listen { [self] request, signal in
            switch request {
            case .graceful: worker.beginShutdown()
            case .immediate: stopNow(status: 128 + signal)
            }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await worker.run()) } catch { outcome = .failure(error) }
        if let status = state.withLock({ $0.status }) { return status }
        try outcome.get()
        return nil
    }

    /// Exits after a grace period although handlers have not returned.
    func endStuck(after grace: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isStuck = true }
            return !state.isStuck
        }
        guard isFirst else { return }
        DedicatedThread.start("errand-stuck") { [self] in
            Thread.sleep(forTimeInterval: grace / .seconds(1))
            StandardError.write("error: handlers of jobs do not return; the worker ends without waiting for them")
            stopNow(status: ExitStatus.stuck.rawValue)
        }
    }

    /// Stops all running jobs and releases them: commands once they are killed and reaped, handlers last. The process
    /// exits after two seconds in any case.
    private func stopNow(status: Int32) {
        let worker = state.withLock { state -> Worker? in
            guard state.status == nil else { return nil }
            state.status = status
            return state.worker
        }
        // Stop the worker first, so that it does not report a killed command as the outcome of a job.
        guard let worker else { return }
        worker.stopNow()
        ChildProcesses.shared.endAll()
        DedicatedThread.start("errand-exit") {
            Thread.sleep(forTimeInterval: Self.longestStop)
            exit(status)
        }
    }
}
