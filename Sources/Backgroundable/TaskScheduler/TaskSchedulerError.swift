public import Foundation

extension TaskScheduler {
    /// Why a scheduler did not do what it was asked.
    ///
    /// ```swift
    /// do {
    ///     try TaskScheduler.shared.submit(request)
    /// } catch TaskScheduler.Error.notPermitted {
    ///     // The identifier is not among the permitted ones.
    /// }
    /// ```
    public struct Error: LocalizedError, Sendable, Equatable, CustomStringConvertible {
        /// The kinds of errors. More may come in a minor release.
        public struct Code: Sendable, Hashable, CustomStringConvertible {
            private enum Kind: String { case notPermitted, tooManyPendingTaskRequests, unavailable, outcomeUnknown }
            private let kind: Kind
            private init(_ kind: Kind) { self.kind = kind }

            /// The identifier is not permitted; see ``TaskScheduler/permit(_:)``.
            public static let notPermitted = Code(.notPermitted)
            /// The place where requests wait is full. A local scheduler has no such limit.
            public static let tooManyPendingTaskRequests = Code(.tooManyPendingTaskRequests)
            /// The place where requests wait cannot be used; nothing was done.
            public static let unavailable = Code(.unavailable)
            /// The answer was lost: what was asked for may or may not have been done. Doing it again is safe, since a
            /// request replaces one of the same identifier.
            public static let outcomeUnknown = Code(.outcomeUnknown)

            /// The code's name.
            public var description: String { kind.rawValue }

            /// Whether an error is of this kind, for `catch`.
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

        /// What kind of error it is.
        public let code: Code
        /// What went wrong and what to do, for a person to read.
        public let message: String

        /// Makes an error.
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
                    + "BGTaskSchedulerPermittedIdentifiers, or permit it in the program"
            )
        }
    }
}
