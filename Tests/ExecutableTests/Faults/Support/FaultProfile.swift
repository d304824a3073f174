import Foundation

/// How large the scenarios are: small enough for every run of the tests, or as large as promised.
enum FaultProfile {
    static let isFull = ProcessInfo.processInfo.environment["ERRAND_FAULTS"] == "full"

    static func size(quick: Int, full: Int) -> Int { isFull ? full : quick }
}
