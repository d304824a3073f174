/// Configure: changes the settings; 0 restores a default.
extension MemoryQueue {
    package mutating func configure(_ change: QueueSettings) throws(BrokerError) {
        let numbers = [
            change.maximumLength, change.rememberIDsMilliseconds, change.keepHistoryMilliseconds, change.keptEvents,
        ]
        guard numbers.allSatisfy({ ($0 ?? 0) >= 0 }) else {
            throw BrokerError(.refused, "a setting must be 0 or more; 0 puts the default back")
        }
        if let paused = change.isPaused { pause(paused) }
        if let starts = change.publishesStarts { settings.publishesStarts = starts }
        if let kept = change.keptEvents {
            settings.keptEvents = min(kept, 1_000_000)
            if kept == 0 { log.stop() }
        }
        if let most = change.maximumLength {
            settings.maximumLength = most > 0 ? most : MemorySettings.defaultMaximumLength
        }
        if let window = change.rememberIDsMilliseconds {
            settings.rememberIDs = window > 0 ? Int64(window) : MemorySettings.defaultRememberIDs
        }
        if let keep = change.keepHistoryMilliseconds {
            settings.keepHistory = keep > 0 ? Int64(keep) : MemorySettings.defaultKeepHistory
        }
    }

    /// Pauses or resumes the queue. Every waiting session is woken, so that work continues immediately.
    private mutating func pause(_ paused: Bool) {
        settings.isPaused = paused
        effects.newWork = idle.count
    }
}
