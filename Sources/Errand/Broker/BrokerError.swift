import ErrandText

/// An error of a broker.
public struct BrokerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of broker errors. A minor release may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String, Sendable {
            case notReachable, unknown, sessionLost, full, refused, queueNotFound, notPermitted, protocolViolation,
                closed
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// The broker could not be reached; nothing was sent.
        public static let notReachable = Code(.notReachable)
        /// The request was sent but its reply was lost: it may or may not have been carried out.
        public static let outcomeUnknown = Code(.unknown)
        /// The session is not registered (any more), and its claims do not exist.
        public static let sessionLost = Code(.sessionLost)
        /// The queue or the broker's memory is full, and nothing was accepted; or a group is full, and of the push only
        /// the jobs of others were accepted, as the message says.
        public static let full = Code(.full)
        /// The broker rejected the request; nothing was done.
        public static let refused = Code(.refused)
        /// The queue does not exist; nothing was done.
        public static let queueNotFound = Code(.queueNotFound)
        /// The broker requires other credentials or permissions.
        public static let notPermitted = Code(.notPermitted)
        /// The broker's reply is invalid: it is another kind of server, or another version of Errand.
        public static let protocolViolation = Code(.protocolViolation)
        /// This client is closed.
        public static let closed = Code(.closed)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// What went wrong, where, and what to do, for people. Never contains a password.
    public let message: String
    /// The number of jobs of a rejected push, from the first, that the queue has room for; `nil` if that is not known.
    package let fitting: Int?
    /// The receipts of the jobs of a push of which others were refused, and `nil` for those; `nil` if all were refused.
    package let taken: [Receipt?]?
    /// Whether only one queue cannot be served, while its server replies.
    package let concernsOneQueue: Bool

    /// Makes an error.
    public init(_ code: Code, _ message: String) { self.init(code, message, concernsOneQueue: false) }

    /// Makes an error with the number of jobs of a rejected push that would fit.
    package init(_ code: Code, _ message: String, fitting: Int? = nil, concernsOneQueue: Bool = false) {
        self.concernsOneQueue = concernsOneQueue
        self.code = code
        self.message = message
        self.fitting = fitting
        taken = nil
    }

    /// Makes the error of a push of which some jobs were refused, because their group has too many waiting jobs.
    package init(fullGroup group: String, of queue: String, taken: [Receipt?]) {
        let count = taken.count { $0 == nil }
        code = .full
        let others = count < taken.count ? "; the other \(taken.count - count) were accepted" : ""
        message =
            "group full: \(count) of the \(taken.count) jobs of this push \(count == 1 ? "was" : "were") refused, because group \(group) "
            + "of queue \"\(queue)\" has as many waiting jobs as its rule allows (errand flow list \(queue))\(others); push them "
            + "again later, or raise the limit"
        (fitting, concernsOneQueue) = (nil, false)
        self.taken = taken
    }

    /// The same error about other jobs of the push.
    package func about(_ taken: [Receipt?]) -> BrokerError { BrokerError(code, message, taken) }

    private init(_ code: Code, _ message: String, _ taken: [Receipt?]) {
        (self.code, self.message, self.taken) = (code, message, taken)
        (fitting, concernsOneQueue) = (nil, false)
    }

    /// Makes the error for a queue that does not exist.
    package init(missingQueue queue: String) {
        self.init(
            .queueNotFound,
            "queue \"\(queue)\" does not exist; check its name, or create it with errand queue create \(queue)"
        )
    }

    /// Makes the error for a queue with a name that no queue may have.
    package init(invalidQueue queue: String) {
        self.init(
            .refused,
            "queue \"\(queue.printable.shortened(to: 200))\": the name must match [A-Za-z0-9_.-]{1,128}"
        )
    }

    /// Whether the same call may succeed a little later: the broker was not reachable, or its reply was lost.
    var isPassing: Bool { code == .notReachable || code == .outcomeUnknown }

    /// Whether the request may have been carried out. After any other error it was not.
    package var leavesUnknown: Bool { code == .outcomeUnknown || code == .protocolViolation }

    /// The message.
    public var description: String { message }
}
