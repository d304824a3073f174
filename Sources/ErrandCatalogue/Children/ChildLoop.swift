import CErrandChild
import Foundation

/// The loop of the children's thread: it starts commands, moves their input and output, and handles their ends.
///
/// One permanent thread starts every command, because the kernel kills a child (`PR_SET_PDEATHSIG`) when the thread
/// that started it ends. The loop blocks only in `poll`.
final class ChildLoop {
    private struct Entry {
        let child: RunningChild
        let onEnd: @Sendable (ChildResult) -> Void
    }

    private let mailbox: ChildMailbox
    private let spawner = ChildSpawner()
    private let reaper = ProcessReaper()
    private var children: [ChildRequest.ID: Entry] = [:]
    private var polls = ChildPolls()
    private let buffer = ChildOutput.Buffer()
    /// Whether the process is about to exit: the loop starts no more commands.
    private var isEnding = false
    private var endWaiters: [(continuation: CheckedContinuation<Bool, Never>, deadline: ContinuousClock.Instant)] = []

    init(mailbox: ChildMailbox) {
        self.mailbox = mailbox
    }

    func run() -> Never {
        errand_child_block_signals()
        errand_child_keep_endings()
        errand_child_name_thread("errand-children")
        while true {
            wait()
            if polls.mailIsReady { for message in mailbox.take() { receive(message) } }
            advance()
        }
    }

    // MARK: - Waiting

    private func wait() {
        polls.reset(mailbox: mailbox.number, reaper: reaper.pipeNumber)
        let now = ContinuousClock.now
        var wakeTime: ContinuousClock.Instant?
        for (id, entry) in children {
            polls.add(entry.child.interest, of: id)
            if let time = entry.child.wakeTime(at: now) { wakeTime = min(wakeTime ?? time, time) }
        }
        for waiter in endWaiters { wakeTime = min(wakeTime ?? waiter.deadline, waiter.deadline) }
        polls.wait(for: wakeTime.map { $0 - now })
        if polls.reaperIsGone { replaceReaper() }
        polls.forEachReady { id, role in
            guard let child = children[id]?.child else { return }
            switch role {
            case .input: child.inputIsReady()
            case .output: child.outputIsReady()
            case .error: child.errorIsReady()
            case .ending: child.endingIsReady()
            }
        }
    }

    private func replaceReaper() {
        reaper.discard()
        // If this fails, the next command that starts reports it.
        try? reaper.start(for: children.values.map(\.child.pid))
    }

    // MARK: - Messages

    private func receive(_ message: ChildMailbox.Message) {
        switch message {
        case .start(let request):
            if request.isStopped.isSet || isEnding {
                request.onEnd(ChildResult(ending: .signalled(SIGTERM), stopped: true))
            } else {
                start(request)
            }
        case .stop(let id):
            children[id]?.child.stop(at: .now)
        case .write(let id):
            children[id]?.child.inputIsReady()
        case .finish(let id):
            children[id]?.child.finish(at: .now)
        case .endAll:
            isEnding = true
            for entry in children.values { end(entry.child) }
        case .awaitEnd(let continuation, let deadline):
            endWaiters.append((continuation, deadline))
        }
    }

    /// A long-lived child may have no job, and something to tidy up.
    private func end(_ child: RunningChild) {
        if child.isLongLived { child.finishAtLast(at: .now) } else { child.kill(at: .now) }
    }

    private func start(_ request: ChildRequest) {
        do {
            let child = RunningChild(try spawn(request.command), command: request.command, buffer: buffer)
            children[request.id] = Entry(child: child, onEnd: request.onEnd)
            request.onStart(child.pid, child.input)
        } catch {
            answer(request.onEnd, ChildResult(ending: .notStarted(error)))
        }
    }

    /// Starts a command; if the reaper turns out to be gone, retries once with a new one.
    private func spawn(_ command: ChildCommand) throws(ChildStartError) -> ChildSpawner.Started {
        do {
            return try spawner.start(command, reaperPipe: try reaperPipe(for: command))
        } catch  where error.step == .reaper && error.code == EPIPE {
            reaper.discard()
            return try spawner.start(command, reaperPipe: try reaperPipe(for: command))
        }
    }

    private func reaperPipe(for command: ChildCommand) throws(ChildStartError) -> Int32 {
        do {
            try reaper.start(for: children.values.map(\.child.pid))
        } catch {
            throw ChildStartError(step: .reaper, code: error.code, command: command.arguments.first ?? "")
        }
        return reaper.pipeNumber ?? -1
    }

    // MARK: - Endings

    private func advance() {
        let now = ContinuousClock.now
        let groups = children.values.contains { $0.child.needsGroups } ? LiveProcessGroups() : nil
        for (id, entry) in children {
            guard let result = entry.child.advance(at: now, groups: groups) else { continue }
            reaper.remove(entry.child.pid)
            errand_child_reap(entry.child.pid)
            children[id] = nil
            answer(entry.onEnd, result)
        }
        answerEndWaiters(at: now)
    }

    /// Returns the result of a command, unless the program exits: it then kills the children, which is not an outcome
    /// to report.
    private func answer(_ onEnd: @Sendable (ChildResult) -> Void, _ result: ChildResult) {
        if errand_reaper_ends_program() == 0 { onEnd(result) }
    }

    private func answerEndWaiters(at now: ContinuousClock.Instant) {
        for waiter in endWaiters where children.isEmpty || now >= waiter.deadline {
            waiter.continuation.resume(returning: children.isEmpty)
        }
        endWaiters.removeAll { children.isEmpty || now >= $0.deadline }
    }
}
