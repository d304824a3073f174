import Foundation

/// The size of the scenarios: small for every test run, or full.
enum FaultProfile {
    static let isFull = ProcessInfo.processInfo.environment["ERRAND_FAULTS"] == "full"

    static func size(quick: Int, full: Int) -> Int { isFull ? full : quick }
}
