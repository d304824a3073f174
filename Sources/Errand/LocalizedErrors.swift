#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Web frameworks, loggers and `localizedDescription` use `errorDescription`; without it they show the type and a number.

extension BrokerError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ClaimLost: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension DescriptionError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension EnvelopeError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JSONTextError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JobCancellation: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JobFailure: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JobNotFinished: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JobTimedOut: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ScheduleError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension WorkflowError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension WorkflowNotFinished: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension WorkerStuck: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

#if ConfigurationSupport
    extension ConfigurationProblem: LocalizedError {
        /// The same as ``description``.
        public var errorDescription: String? { description }
    }
#endif
