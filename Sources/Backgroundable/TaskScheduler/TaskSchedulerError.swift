public import Foundation

extension TaskScheduler {
    /// An error of a task scheduler.
    ///
    /// ```swift
    /// do {
    ///     try TaskScheduler.shared.submit(request)
    /// } catch TaskScheduler.Error.notPermitted {
    ///     // The identifier is not among the permitted ones.
    /// }
    /// ```
    public struct Error: LocalizedError, Sendable, Equatable, CustomStringConvertible {
        /// The kinds of errors. Minor releases may add more.
        public struct Code: Sendable, Hashable, CustomStringConvertible {
            private enum Kind: String { case notPermitted, tooManyPendingTaskRequests, unavailable, outcomeUnknown }
            private let kind: Kind
            private init(_ kind: Kind) { self.kind = kind }

            /// The identifier is not permitted; see ``TaskScheduler/permit(_:)``.
            public static let notPermitted = Code(.notPermitted)
            /// The backlog of requests is full. A local scheduler has no such limit.
            public static let tooManyPendingTaskRequests = Code(.tooManyPendingTaskRequests)
            /// The backlog of requests cannot be used, and nothing was done.
            public static let unavailable = Code(.unavailable)
            /// The reply was lost, so the call may or may not have taken effect. Repeating it is safe, because a
            /// request replaces an earlier one of the same identifier.
            public static let outcomeUnknown = Code(.outcomeUnknown)

            /// The name of the code.
            public var description: String { kind.rawValue }

            /// Returns whether an error has this code, for use in `catch`.
            public static func ~= (code: Code, error: any Swift.Error) -> Bool {
                (error as? TaskScheduler.Error)?.code == code
            }
        }

        /// See ``Code/notPermitted``.
        public static let notPermitted = Code.notPermitted
        /// See ``Code/tooManyPendingTaskRequests``.
        public static let tooManyPendingTaskRequests = Code.tooManyPendingTaskRequests
        /// See ``Code/unavailable``.
        public static let unavailable = Code.unavailable
        /// See ``Code/outcomeUnknown``.
        public static let outcomeUnknown = Code.outcomeUnknown

        /// The code of the error.
        public let code: Code
        /// What happened and what to do, for people.
        public let message: String

        /// Creates an error.
        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }

        /// The message.
        public var description: String { message }

        /// The message.
        public var errorDescription: String? { message }

        static func notPermitted(_ identifier: String) -> Error {
            Error(
                .notPermitted,
                "the task identifier \"\(identifier)\" is not permitted; list it in the property list under "
                    + "BGTaskSchedulerPermittedIdentifiers, or pass it to permit(_:)"
            )
        }
    }
}
