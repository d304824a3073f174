public import Foundation

/// A time span in either of Swift's forms: a number of seconds (`TimeInterval`) or a `Duration`.
///
/// Methods of this module that take a time span accept both:
///
/// ```swift
/// queue.addAsyncOperation(timeout: 20) { operation in operation.finish() }
/// queue.addAsyncOperation(timeout: .milliseconds(500)) { operation in operation.finish() }
/// ```
public protocol TimeSpan: Sendable {
    /// The span in seconds.
    var timeInterval: TimeInterval { get }
}

extension TimeInterval: TimeSpan {
    /// The number itself.
    public var timeInterval: TimeInterval { self }
}

extension Duration: TimeSpan {
    /// The duration in seconds.
    public var timeInterval: TimeInterval { self / .seconds(1) }
}

extension TimeSpan {
    /// The span as a duration. Negative and NaN numbers become zero; infinity becomes a hundred years.
    var duration: Duration {
        if let duration = self as? Duration { return duration }
        return .seconds(timeInterval > 0 ? min(timeInterval, MonotonicTime.longestSpan) : 0)
    }
}

// Static members for the leading-dot syntax.

extension TimeSpan where Self == TimeInterval {
    /// A span that never ends.
    public static var infinity: TimeInterval { .infinity }
}

extension TimeSpan where Self == Duration {
    /// A span of zero.
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
