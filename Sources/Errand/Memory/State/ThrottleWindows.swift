/// The windows in which jobs of a name are dropped. They outlive the jobs that began them.
package struct ThrottleWindows: Sendable, Equatable {
    /// A window: its times in milliseconds since 1970 UTC, and the job that was accepted in it.
    struct Window: Sendable, Equatable {
        var begin: Int64
        var end: Int64
        let first: String
    }

    private var windows: [MemoryName: Window] = [:]
    /// No window ends before this time.
    private var firstEnd = Int64.max

    /// How many windows that are over a push forgets.
    private static let forgotten = 10

    /// Forgets a few windows that are over, the first ones first. Until then they count again if the clock is set back.
    mutating func forget(now: Int64) {
        guard firstEnd <= now else { return }
        let over = windows.filter { $0.value.end <= now }.sorted { one, other in
            one.value.end != other.value.end
                ? one.value.end < other.value.end : one.key.bytes.lexicographicallyPrecedes(other.key.bytes)
        }
        for (name, _) in over.prefix(Self.forgotten) { windows[name] = nil }
        firstEnd = windows.values.map(\.end).min() ?? .max
    }

    /// Returns the window of a name that is not over. If the clock was set back, it has its own length again.
    mutating func window(of name: MemoryName, now: Int64) -> Window? {
        guard var window = windows[name], window.end > now else { return nil }
        if window.begin > now {
            window = Window(begin: now, end: now + window.end - window.begin, first: window.first)
            begin(name, window)
        }
        return window
    }

    mutating func begin(_ name: MemoryName, _ window: Window) {
        windows[name] = window
        firstEnd = min(firstEnd, window.end)
    }

    /// The end of a name's window; `nil` if there is none.
    package func end(of name: MemoryName, now: Int64) -> Int64? {
        windows[name].flatMap { $0.end > now ? $0.end : nil }
    }
}

extension MemoryQueue {
    /// The first job of a name in a window is accepted, and later ones are dropped.
    mutating func throttle(_ push: MemoryPush, _ name: MemoryName) -> Receipt {
        windows.forget(now: now)
        if let window = windows.window(of: name, now: now) {
            publish(.dropped, id: push.id, fragment: push.header.fragment, MemoryEventDetails())
            return Receipt(
                id: window.first,
                queue: self.name,
                outcome: .dropped,
                holder: window.first,
                until: window.end
            )
        }
        add(push)
        let end = MemoryRules.later(now, by: push.window)
        windows.begin(name, ThrottleWindows.Window(begin: now, end: end, first: push.id))
        return Receipt(id: push.id, queue: self.name, outcome: .accepted, until: end)
    }
}
