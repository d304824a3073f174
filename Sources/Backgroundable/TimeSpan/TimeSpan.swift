public import Foundation

/// A length of time, in either of Swift's ways to write one: a number of seconds (a `TimeInterval`) or a
/// `Duration`.
///
/// Where this module takes a length of time it takes both:
///
/// ```swift
/// queue.addAsyncOperation(timeout: 20) { operation in operation.finish() }
/// queue.addAsyncOperation(timeout: .milliseconds(500)) { operation in operation.finish() }
/// ```
public protocol TimeSpan: Sendable {
    /// The length in seconds.
    var timeInterval: TimeInterval { get }
}

extension TimeInterval: TimeSpan {
    /// The number itself, as seconds.
    public var timeInterval: TimeInterval { self }
}

extension Duration: TimeSpan {
    /// The duration in seconds.
    public var timeInterval: TimeInterval { self / .seconds(1) }
}

extension TimeSpan {
    /// The span as a duration: one of a number that is negative or undefined as zero, an infinite one as a hundred years.
    var duration: Duration {
        if let duration = self as? Duration { return duration }
        return .seconds(timeInterval > 0 ? min(timeInterval, MonotonicTime.longestSpan) : 0)
    }
}

// What may stand after a dot where a length of time is expected.

extension TimeSpan where Self == TimeInterval {
    /// A span that never ends.
    public static var infinity: TimeInterval { .infinity }
}

extension TimeSpan where Self == Duration {
    /// No time.
    public static var zero: Duration { .zero }

    /// A whole number of seconds.
    public static func seconds(_ seconds: some BinaryInteger) -> Duration { Duration.seconds(seconds) }

    /// A number of seconds.
    public static func seconds(_ seconds: Double) -> Duration { Duration.seconds(seconds) }

    /// A whole number of milliseconds.
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> Duration {
        Duration.milliseconds(milliseconds)
    }

    /// A number of milliseconds.
    public static func milliseconds(_ milliseconds: Double) -> Duration { Duration.milliseconds(milliseconds) }

    /// A whole number of microseconds.
    public static func microseconds(_ microseconds: some BinaryInteger) -> Duration {
        Duration.microseconds(microseconds)
    }

    /// A whole number of nanoseconds.
    public static func nanoseconds(_ nanoseconds: some BinaryInteger) -> Duration { Duration.nanoseconds(nanoseconds) }
}
