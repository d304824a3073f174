import CErrandChild
import Foundation

/// A running command with its pipes and the progress of its end. Only the children's thread uses it.
///
/// There are two ways to end. By itself: the command exits, the rest of its process group is killed, and the pipes are
/// read to their end. Stopped: the group gets SIGTERM, and SIGKILL after the grace, and the end is reported only when
/// no member is left. Until then the command stays a zombie, so that its number, which is also the group's, is not
/// reused.
final class RunningChild {
    /// The descriptors that the thread polls.
    struct Interest {
        var input: Int32?
        var output: Int32?
        var error: Int32?
        var ending: Int32?
    }

    /// The interval at which a group that is being stopped, or a child without a pidfd, is checked.
    static let glance: Duration = .milliseconds(10)
    /// How long a long-lived child may take to end after its input has ended.
    private static let patience: Duration = .seconds(1)
    private static let lastPatience: Duration = .milliseconds(500)

    let pid: pid_t
    /// Whether it takes more input, and ends when that is closed.
    let isLongLived: Bool
    private let grace: Duration
    let input: ChildInput
    private var output: ChildOutput
    private var error: ChildOutput
    private let pidfd: Descriptor?
    /// Whether it may have ended since the last look.
    private var mayHaveEnded = true
    private var ending: ChildResult.Ending?
    private var endedAt: ContinuousClock.Instant?
    private var stoppedAt: ContinuousClock.Instant?
    /// When a child is stopped whose input has ended.
    private var stopsAt: ContinuousClock.Instant?
    /// Whether it is killed then.
    private var isLast = false
    private var killed = false

    init(_ started: ChildSpawner.Started, command: ChildCommand, buffer: ChildOutput.Buffer) {
        pid = started.pid
        grace = command.stopGrace
        isLongLived = command.onOutput != nil
        input = ChildInput(started.input, bytes: command.input, staysOpen: isLongLived)
        let part = command.onOutput.map { ChildOutput.Part.none($0) } ?? .first(command.outputLimit)
        output = ChildOutput(started.output, keeping: part, buffer)
        error = ChildOutput(started.error, keeping: .last(command.errorLimit), buffer)
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
    func endingIsReady() { mayHaveEnded = true }
    func outputIsReady() { output.read() }
    func errorIsReady() { error.read() }

    /// Closes the input of a long-lived child, and stops it if it has not ended soon.
    func finish(at now: ContinuousClock.Instant) {
        input.finish()
        stopsAt = stopsAt ?? now + Self.patience
    }

    /// Does the same while the process ends: a child that has not ended soon is killed, one that is being stopped at once.
    func finishAtLast(at now: ContinuousClock.Instant) {
        guard stoppedAt == nil else { return kill(at: now) }
        input.finish()
        (stopsAt, isLast) = (now + Self.lastPatience, true)
    }

    /// Asks the whole process group to end.
    func stop(at now: ContinuousClock.Instant) {
        guard ending == nil else {
            // The command has ended by itself; the remaining processes get no more time.
            endedAt = now - grace
            return
        }
        guard stoppedAt == nil else { return }
        stoppedAt = now
        Foundation.kill(-pid, SIGTERM)
        // A suspended process would not react.
        Foundation.kill(-pid, SIGCONT)
    }

    /// Kills the whole process group at once.
    func kill(at now: ContinuousClock.Instant) {
        if ending == nil && stoppedAt == nil { stoppedAt = now }
        // The command has ended by itself; the next step kills the group.
        if stoppedAt == nil { endedAt = now - grace } else { killGroup() }
    }

    /// Whether ``advance(at:groups:)`` needs the live process groups.
    var needsGroups: Bool { stoppedAt != nil && ending != nil }

    /// Returns when ``advance(at:groups:)`` must be called at the latest.
    func wakeTime(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if needsGroups || (pidfd == nil && ending == nil) { return now + Self.glance }
        if let stoppedAt { return killed ? nil : stoppedAt + grace }
        return endedAt.map { $0 + grace } ?? stopsAt
    }

    /// Takes every step that is due.
    ///
    /// - Returns: The result if the command has ended and can be reaped.
    func advance(at now: ContinuousClock.Instant, groups: LiveProcessGroups?) -> ChildResult? {
        lookForEnd(at: now)
        if ending == nil, let stopsAt, now >= stopsAt { if isLast { kill(at: now) } else { stop(at: now) } }
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
        guard ending == nil, mayHaveEnded || pidfd == nil else { return }
        mayHaveEnded = false
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
        // Without its leader's zombie the number may be reused already.
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
