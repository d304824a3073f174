import Backgroundable
import Foundation
import Synchronization

/// Runs commands as children of this process. The process group of each ends with the command, with the task that runs
/// it, and with this process, however the process ends.
///
/// ```swift
/// let result = await ChildProcesses.shared.run(ChildCommand(["sha256sum", "--", "a.jpg"]))
/// ```
package final class ChildProcesses: Sendable {
    /// The children of this process. Its thread and its reaper start with the first command.
    package static let shared = ChildProcesses()

    private let mailbox: Result<ChildMailbox, Errno>
    private let lastID = Atomic<ChildRequest.ID>(0)

    init() {
        do {
            let mailbox = try ChildMailbox()
            self.mailbox = .success(mailbox)
            DedicatedThread.start("errand-children") { ChildLoop(mailbox: mailbox).run() }
        } catch {
            mailbox = .failure(error)
        }
    }

    /// Runs a command to its end.
    ///
    /// If the task is cancelled, the command's whole process group gets SIGTERM and, after ``ChildCommand/stopGrace``,
    /// SIGKILL.
    ///
    /// - Parameter command: The command to run.
    /// - Returns: Its result, after it has ended; also after cancellation.
    package func run(_ command: ChildCommand) async -> ChildResult {
        let mailbox: ChildMailbox
        switch self.mailbox {
        case .success(let started): mailbox = started
        case .failure(let error): return Self.notStarted(command, error)
        }
        let id = lastID.add(1, ordering: .relaxed).newValue
        let flag = StopFlag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = ChildRequest(id: id, command: command, isStopped: flag) {
                    continuation.resume(returning: $0)
                }
                mailbox.post(.start(request))
            }
        } onCancel: {
            flag.set()
            mailbox.post(.stop(id))
        }
    }

    private static func notStarted(_ command: ChildCommand, _ error: Errno) -> ChildResult {
        let failure = ChildStartError(step: .prepare, code: error.code, command: command.arguments.first ?? "")
        return ChildResult(ending: .notStarted(failure))
    }

    /// Starts a long-lived command, and returns at once.
    ///
    /// - Parameters:
    ///   - command: The command, with ``ChildCommand/onOutput``.
    ///   - onStart: Called on the children's thread with the number of its process.
    ///   - onEnd: Called on the children's thread with its result, after it has ended.
    /// - Returns: What may be done with it; `nil` if nothing can be started, of which `onEnd` was told.
    func start(
        _ command: ChildCommand,
        onStart: @escaping @Sendable (pid_t) -> Void,
        onEnd: @escaping @Sendable (ChildResult) -> Void
    ) -> LivingChild? {
        switch self.mailbox {
        case .success(let mailbox):
            let id = lastID.add(1, ordering: .relaxed).newValue
            let child = LivingChild(id: id, mailbox: mailbox)
            let started = { @Sendable (pid: pid_t, input: ChildInput) in
                child.started(input)
                onStart(pid)
            }
            mailbox.post(
                .start(ChildRequest(id: id, command: command, isStopped: StopFlag(), onStart: started, onEnd: onEnd))
            )
            return child
        case .failure(let error):
            onEnd(Self.notStarted(command, error))
            return nil
        }
    }

    /// Kills every child with its process group at once, and starts no more: the process is about to exit. Each run
    /// ends as stopped. Returns immediately, on any thread.
    package func endAll() {
        if case .success(let mailbox) = mailbox { mailbox.post(.endAll) }
    }

    /// Kills every child as ``endAll()`` does, and waits until all are reaped and their process groups have ended.
    ///
    /// - Parameter limit: How long to wait.
    /// - Returns: Whether all have ended.
    package func endAll(within limit: Duration) async -> Bool {
        guard case .success(let mailbox) = mailbox else { return true }
        mailbox.post(.endAll)
        return await withCheckedContinuation { mailbox.post(.awaitEnd($0, until: .now + limit)) }
    }
}
