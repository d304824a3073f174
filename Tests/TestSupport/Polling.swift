import Foundation

/// Waits for what sends no event: what other programs tell only when they are asked.
///
/// - Parameters:
///   - what: What is waited for, for the error.
///   - pause: The time between two questions, in microseconds.
/// - Throws: ``TestFailure`` if it is not so within the limit.
package func poll(
    _ what: @autoclosure () -> String,
    within limit: Duration = .seconds(60),
    pause: UInt32 = 20_000,
    until isSo: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    while !(try isSo()) {
        guard ContinuousClock.now < deadline else { throw TestFailure("timed out: \(what())", isOfTime: true) }
        usleep(pause)
    }
}
