public import Foundation
import Synchronization

extension BackgroundTasks {
    /// The seconds until the process leaves at the latest: infinite until termination has begun (``onTermination(_:)``),
    /// and never negative.
    public var backgroundTimeRemaining: TimeInterval {
        state.withLock { $0.countdown?.remaining(at: MonotonicTime.now) } ?? .infinity
    }

    /// Calls `handler` once when termination begins: when SIGTERM has arrived, or when somebody waits for all tasks.
    ///
    /// The place to stop taking on work. The handlers are called on a thread of their own, in the order in which they
    /// were set, one after the other; the rest do not wait for one that blocks. The process does not leave before each
    /// has returned or time is up, so a handler need not begin a task.
    ///
    /// If termination has begun already, `handler` is called at once, on the caller's thread.
    ///
    /// ```swift
    /// BackgroundTasks.shared.onTermination { remaining in
    ///     server.stopAccepting()
    ///     print("leaving in at most \(remaining) s")
    /// }
    /// ```
    ///
    /// - Parameter handler: Gets the seconds that are left.
    public func onTermination(_ handler: @escaping @Sendable (_ remaining: TimeInterval) -> Void) {
        let hasBegun = state.withLock { state in
            if state.countdown == nil { state.listeners.append(handler) }
            return state.countdown != nil
        }
        if hasBegun { handler(backgroundTimeRemaining) }
    }

    /// Begins the termination and waits until every task has ended, but no longer than `duration`.
    ///
    /// For hosts that handle SIGTERM themselves, and call this when they do. The remaining time is announced as after
    /// the signal (``onTermination(_:)``), and tasks that are still there ``expirationLead`` seconds before the end
    /// expire. The process stays: leaving it is the host's business.
    ///
    /// ```swift
    /// BackgroundTasks.shared.leavesOnTermination = false
    /// let isClean = await BackgroundTasks.shared.waitForAll(within: .seconds(20))
    /// ```
    ///
    /// This cannot be undone: once the tasks have expired nothing may begin any more. If several wait, the shortest
    /// time is everybody's.
    ///
    /// - Parameter span: How long to wait at most, in seconds or as a `Duration`.
    /// - Returns: Whether every task has ended. Returns early, with the same answer, if its own `Task` is cancelled.
    public func waitForAll(within span: some TimeSpan) async -> Bool {
        let number = BackgroundTasks.waits.add(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let countdown = newCountdown(seconds: span.timeInterval)
                let start = state.withLock { state in
                    state.waiters[number] = continuation
                    return state.count(down: countdown, isLeaving: false)
                }
                if perform(start) {
                    Thread { self.serveCountdown() }.start()
                }
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// Numbers those who wait.
    private static let waits = Atomic<UInt64>(0)

    private func giveUp(_ number: UInt64) {
        let (waiter, isIdle) = state.withLock { ($0.waiters.removeValue(forKey: number), $0.tasks.count == 0) }
        waiter?.resume(returning: isIdle)
    }

    // MARK: Counting down

    /// What happens when SIGTERM has arrived. Returns when the process was made to leave, or may not leave any more.
    ///
    /// The calling thread counts down itself: it may be impossible to start one by now.
    func terminate() {
        let countdown = newCountdown(seconds: grace)
        let start = state.withLock { $0.count(down: countdown, isLeaving: true) }
        if perform(start) {
            serveCountdown()
        }
    }

    private func newCountdown(seconds: Double) -> Countdown {
        Countdown(seconds: seconds, lead: expirationLead)
    }

    /// Tells those who want to know and whoever counts down already. True if the caller has to see to the countdown.
    private func perform(_ start: BackgroundTasksState.Start) -> Bool {
        if let listeners = start.listeners { announce(to: listeners) }
        if !start.needsThread { alarm.ring() }
        return start.needsThread
    }

    private func announce(to listeners: [@Sendable (TimeInterval) -> Void]) {
        let calls = listeners.map { listener -> HandlerCalls.Handler in
            { listener(self.backgroundTimeRemaining) }
        }
        HandlerCalls.start(calls) {
            self.state.withLock { $0.countdown?.isAnnouncing = false }
            self.alarm.ring()
        }
    }

    /// Does what the countdown says. One thread at a time does.
    private func serveCountdown() {
        while true {
            let turn = state.withLock { $0.turn(at: MonotonicTime.now) }
            for waiter in turn.waiters { waiter.resume(returning: turn.isIdle) }
            switch turn.step {
            case .expire: expireTasks()
            case .sleep(let moment): alarm.sleep(until: moment)
            case .leave(let departure): return leave(departure, turn.end)
            case .stop: return
            }
        }
    }

    private func expireTasks() {
        let (newestFirst, queues) = state.withLock { ($0.tasks.newestFirst, $0.tasks.queues) }
        let handlers = newestFirst.map { identifier -> HandlerCalls.Handler in
            { self.state.withLock { $0.tasks.takeExpirationHandler(identifier) }?() }
        }
        guard !queues.isEmpty else { return HandlerCalls.start(handlers) }
        // What waits in one queue for the operations of another must not start because those are cancelled first.
        let decided = Locked<CancellationSweep?>(nil)
        let decide: HandlerCalls.Handler = {
            let sweep = CancellationSweep.decide(on: queues)
            decided.withLock { $0 = sweep }
        }
        HandlerCalls.start([decide] + handlers + [{ decided.withLock { $0 }?.end() }])
    }
}
