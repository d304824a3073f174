/// The background task that a queue holds while it is busy, if it wants one.
struct HeldBackgroundTask: ~Copyable {
    private(set) var isWanted = true
    /// Called when the process's time is nearly up.
    var onExpiration: (@Sendable () -> Void)?
    private var identifier = BackgroundTaskIdentifier.invalid

    mutating func setWanted(_ isWanted: Bool, isBusy: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted, isBusy { begin() } else { end() }
    }

    mutating func busyChanged(to isBusy: Bool) {
        guard isWanted else { return }
        if isBusy { begin() } else { end() }
    }

    private mutating func begin() {
        identifier = BackgroundTasks.shared.beginBackgroundTask(
            withName: "background queue",
            expirationHandler: onExpiration
        )
    }

    private mutating func end() {
        BackgroundTasks.shared.endBackgroundTask(identifier)
        identifier = .invalid
    }
}
