import CErrandChild
import Foundation

/// A command that runs: its pipes, how far its end has come, and who waits for it. Belongs to the children's thread.
///
/// It ends in one of two ways. By itself: the command exits, what it left in its process group is killed, and what is
/// in the pipes is read. Stopped: the group gets SIGTERM, after the grace SIGKILL, and the end is reported only when
/// no member is left. All the while the command stays a zombie, so that its number, which is also the group's, cannot
/// become another's.
final class RunningChild {
    /// What the thread has to wake up for.
    struct Interest {
        var input: Int32?
        var output: Int32?
        var error: Int32?
        var ending: Int32?
    }

    /// How often a group that is being stopped, or a child without a pidfd, is looked at.
    static let glance: Duration = .milliseconds(10)

    let pid: pid_t
    private let grace: Duration
    private var input: ChildInput
    private var output: ChildOutput
    private var error: ChildOutput
    private let pidfd: Descriptor?
    private var ending: ChildResult.Ending?
    private var endedAt: ContinuousClock.Instant?
    private var stoppedAt: ContinuousClock.Instant?
    private var killed = false

    init(_ started: ChildSpawner.Started, command: ChildCommand) {
        pid = started.pid
        grace = command.stopGrace
        input = ChildInput(started.input, bytes: command.input)
        output = ChildOutput(started.output, keeping: .first(command.outputLimit))
        error = ChildOutput(started.error, keeping: .last(command.errorLimit))
        let number = errand_child_pidfd(started.pid)
        pidfd = number >= 0 ? Descriptor(number) : nil
        input.write()
    }

    var interest: Interest {
        Interest(
            input: input.number,
            output: output.number,
            error: error.number,
            ending: ending == nil ? pidfd?.number : nil
        )
    }

    // MARK: - What happens

    func inputIsReady() { input.write() }
    func outputIsReady() { output.read() }
    func errorIsReady() { error.read() }

    /// Tells the whole process group to end.
    func stop(at now: ContinuousClock.Instant) {
        guard ending == nil else {
            // The command has ended by itself; what it left behind is not waited for any longer.
            endedAt = now - grace
            return
        }
        guard stoppedAt == nil else { return }
        stoppedAt = now
        Foundation.kill(-pid, SIGTERM)
        // A suspended process would take no notice.
        Foundation.kill(-pid, SIGCONT)
    }

    /// Kills the whole process group at once.
    func kill(at now: ContinuousClock.Instant) {
        if ending == nil && stoppedAt == nil { stoppedAt = now }
        // Otherwise the command has ended by itself; the group goes with the next step.
        if stoppedAt == nil { endedAt = now - grace } else { killGroup() }
    }

    /// Whether ``advance(at:groups:)`` will ask which process groups live.
    var needsGroups: Bool { stoppedAt != nil && ending != nil }

    /// When ``advance(at:groups:)`` has to be called at the latest.
    func wakeTime(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if needsGroups || (pidfd == nil && ending == nil) { return now + Self.glance }
        if let stoppedAt { return killed ? nil : stoppedAt + grace }
        return endedAt.map { $0 + grace }
    }

    /// Takes every step that is due.
    ///
    /// - Returns: The result when the command has ended and can be reaped.
    func advance(at now: ContinuousClock.Instant, groups: LiveProcessGroups?) -> ChildResult? {
        lookForEnd(at: now)
        if let stoppedAt, now >= stoppedAt + grace { killGroup() }
        guard let ending, let endedAt else { return nil }
        if stoppedAt != nil {
            guard let groups, !groups.contains(pid, afterKill: killed) else { return nil }
        } else {
            guard output.isAtEnd && error.isAtEnd || now >= endedAt + grace else { return nil }
            killGroup()
        }
        return result(ending)
    }

    // MARK: - Steps

    private func lookForEnd(at now: ContinuousClock.Instant) {
        guard ending == nil else { return }
        var found = errand_child_ending()
        guard errand_child_look(pid, &found) == 0 else {
            return end(as: .unknown, at: now)
        }
        guard found.ended != 0 else { return }
        end(as: found.signalled != 0 ? .signalled(found.status) : .exited(found.status), at: now)
    }

    private func end(as ending: ChildResult.Ending, at now: ContinuousClock.Instant) {
        self.ending = ending
        endedAt = now
        input.close()
        output.drain()
        error.drain()
    }

    private func killGroup() {
        killed = true
        // Without its leader's zombie the number may already be another's.
        guard ending != .unknown else { return }
        Foundation.kill(-pid, SIGKILL)
    }

    private func result(_ ending: ChildResult.Ending) -> ChildResult {
        output.drain()
        error.drain()
        return ChildResult(
            ending: ending,
            stopped: stoppedAt != nil,
            output: output.kept,
            errorTail: error.kept
        )
    }
}
