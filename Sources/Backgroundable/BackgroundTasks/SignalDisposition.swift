import Foundation

/// What SIGTERM does in this process.
struct SignalDisposition: Equatable {
    typealias Handler = @convention(c) (Int32) -> Void

    private var handler: Handler?

    init(handler: Handler?) {
        self.handler = handler
    }

    /// The current disposition, or nil if it cannot be read.
    static var current: SignalDisposition? {
        var action = sigaction()
        guard sigaction(SIGTERM, nil, &action) == 0 else { return nil }
        return SignalDisposition(handler: action.handler)
    }

    /// Whether the signal terminates the process.
    var isDefault: Bool {
        self == SignalDisposition(handler: SIG_DFL)
    }

    static func == (one: SignalDisposition, other: SignalDisposition) -> Bool {
        unsafeBitCast(one.handler, to: UInt.self) == unsafeBitCast(other.handler, to: UInt.self)
    }

    /// Sets the disposition. System calls that the signal interrupts are restarted. Returns whether that succeeded.
    @discardableResult
    func install() -> Bool {
        var action = sigaction()
        sigemptyset(&action.sa_mask)
        action.sa_flags = SA_RESTART
        action.handler = handler
        return sigaction(SIGTERM, &action, nil) == 0
    }
}

extension sigaction {
    /// The handler, or `SIG_DFL` or `SIG_IGN` in its place.
    fileprivate var handler: SignalDisposition.Handler? {
        get { self[keyPath: sigaction.handlerPlace] }
        set { self[keyPath: sigaction.handlerPlace] = newValue }
    }

    /// The member that holds the handler on each system.
    private static var handlerPlace: WritableKeyPath<sigaction, SignalDisposition.Handler?> {
        #if canImport(Darwin)
            \.__sigaction_u.__sa_handler
        #elseif canImport(Musl)
            \.__sa_handler.sa_handler
        #else
            \.__sigaction_handler.sa_handler
        #endif
    }
}
