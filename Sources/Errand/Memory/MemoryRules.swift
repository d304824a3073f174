/// The broker's checks of a caller's values, and its arithmetic with time. No arithmetic on a caller's number can
/// overflow.
enum MemoryRules {
    static let leaseMilliseconds: ClosedRange<Int64> = 100...86_400_000
    static let nameBytes = 1024
    static let envelopeBytes = 1_200_000
    /// The largest envelope that a wake-up carries to a waiting session.
    static let dispatchedBytes = 16_384
    static let claimedBytes = 8_388_608
    static let inspectedBytes = 1_048_576
    static let errorBytes = OutcomeReport.mostErrorBytes
    static let resultBytes = 65_536
    static let jobsACall = 500
    /// The largest number of jobs of workflows that one call looks at because others have ended.
    static let dependantsACall = 30
    /// The most jobs that a call claims while the queue has jobs of workflows.
    static let membersACall = 100

    static func isSessionID(_ text: String) -> Bool { text.utf8.count >= 8 && QueueName.isValid(jobID: text) }

    /// Returns a duration in whole milliseconds, at most a century.
    static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration.wholeMilliseconds) }

    /// Returns a time plus milliseconds, which may be negative, clamped to the range of `Int64`.
    static func later(_ time: Int64, by milliseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(milliseconds)
        return overflow ? (milliseconds > 0 ? .max : .min) : sum
    }
}
