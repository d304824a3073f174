public import Foundation
import Synchronization

extension BackgroundTasks {
    /// The seconds until the process exits at the latest. Infinite until termination has begun (``onTermination(_:)``),
    /// and never negative.
    public var backgroundTimeRemaining: TimeInterval {
        state.withLock { $0.countdown?.remaining(at: MonotonicTime.now) } ?? .infinity
    }

    /// Calls `handler` once when termination begins: when SIGTERM arrives or ``waitForAll(within:)`` is called.
    ///
    /// Use it to stop accepting work. The handlers are called on a separate thread, one after the other in the order in
    /// which they were added; if one blocks, the others are called on a further thread. The process does not exit
    /// before all of them have returned or time is up, so a handler need not begin a task.
    ///
    /// If termination has already begun, `handler` is called immediately on the caller's thread.
    ///
    /// ```swift
    /// BackgroundTasks.shared.onTermination { remaining in
    ///     server.stopAccepting()
    ///     print("leaving in at most \(remaining) s")
    /// }
    /// ```
    ///
    /// - Parameter handler: Receives the remaining seconds.
    public func onTermination(_ handler: @escaping @Sendable (_ remaining: TimeInterval) -> Void) {
        let hasBegun = state.withLock { state in
            if state.countdown == nil { state.listeners.append(handler) }
            return state.countdown != nil
        }
        if hasBegun { handler(backgroundTimeRemaining) }
    }

    /// Begins termination and waits until every task has ended, but at most for `span`.
    ///
    /// Use it in programs that handle SIGTERM themselves. The remaining time is announced as after the signal
    /// (``onTermination(_:)``), and tasks that have not ended ``expirationLead`` seconds before the end expire. The
    /// process does not exit; that is left to the caller.
    ///
    /// ```swift
    /// BackgroundTasks.shared.leavesOnTermination = false
    /// let isClean = await BackgroundTasks.shared.waitForAll(within: .seconds(20))
    /// ```
    ///
    /// This cannot be undone: once the tasks have expired, no task can begin any more. If several callers wait, the
    /// shortest time applies to all.
    ///
    /// - Parameter span: How long to wait at most, in seconds or as a `Duration`.
    /// - Returns: Whether every task has ended. If the calling `Task` is cancelled, this returns early with the current
    ///   state.
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

    /// Numbers the waiting callers.
    private static let waits = Atomic<UInt64>(0)

    private func giveUp(_ number: UInt64) {
        let (waiter, isIdle) = state.withLock { ($0.waiters.removeValue(forKey: number), $0.tasks.count == 0) }
        waiter?.resume(returning: isIdle)
    }

    // MARK: Countdown

    /// Handles SIGTERM. Returns when the process is exiting, or when it no longer may.
    ///
    /// The calling thread serves the countdown itself, because at this point it may be impossible to create a thread.
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

    /// Calls the termination handlers and wakes the thread that serves the countdown. Returns whether the caller has to
    /// serve it.
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

    /// Carries out the steps of the countdown. Runs on one thread at a time.
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
        // Operations of one queue may wait for those of another, and must not start because those are cancelled first.
        let decided = Locked<CancellationSweep?>(nil)
        let decide: HandlerCalls.Handler = {
            let sweep = CancellationSweep.decide(on: queues)
            decided.withLock { $0 = sweep }
        }
        HandlerCalls.start([decide] + handlers + [{ decided.withLock { $0 }?.end() }])
    }
}
