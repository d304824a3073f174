/// Why a broker could not do what it was asked.
public struct BrokerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of broker errors. More may come in a minor release.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String, Sendable {
            case notReachable, unknown, sessionLost, full, refused, queueNotFound, notPermitted, protocolViolation,
                closed
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// The broker could not be reached; nothing was sent.
        public static let notReachable = Code(.notReachable)
        /// The request was sent but its answer was lost: it may or may not have been carried out.
        public static let outcomeUnknown = Code(.unknown)
        /// The session is not registered (any more); its claims are gone.
        public static let sessionLost = Code(.sessionLost)
        /// The queue, or the broker's memory, is full; nothing was taken.
        public static let full = Code(.full)
        /// The broker refused the request as it stands; nothing was done.
        public static let refused = Code(.refused)
        /// The queue does not exist; nothing was done.
        public static let queueNotFound = Code(.queueNotFound)
        /// The broker wants other credentials or permissions.
        public static let notPermitted = Code(.notPermitted)
        /// The broker's answer makes no sense: another kind of server, or another version of Errand.
        public static let protocolViolation = Code(.protocolViolation)
        /// This client was closed.
        public static let closed = Code(.closed)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// What kind of error it is.
    public let code: Code
    /// What went wrong, where, and what to do, for a person to read. Never holds a password.
    public let message: String
    /// How many jobs of a refused push, from the first, the queue has room for; `nil` where that is not known.
    package let fitting: Int?

    /// Makes an error.
    public init(_ code: Code, _ message: String) { self.init(code, message, fitting: nil) }

    /// Makes an error that says how many jobs of a refused push would fit.
    package init(_ code: Code, _ message: String, fitting: Int?) {
        self.code = code
        self.message = message
        self.fitting = fitting
    }

    /// The error for a queue that does not exist.
    package init(missingQueue queue: String) {
        self.init(
            .queueNotFound,
            "queue \"\(queue)\" does not exist; check its name, or create it with errand queue create \(queue)"
        )
    }

    /// Whether the same call may do better a little later: the broker was not there, or its answer was lost.
    var isPassing: Bool { code == .notReachable || code == .outcomeUnknown }

    /// Whether the request may have been carried out; every other error says that it was not.
    package var leavesUnknown: Bool { code == .outcomeUnknown || code == .protocolViolation }

    /// The message.
    public var description: String { message }
}
