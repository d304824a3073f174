import Errand
import ErrandCommandLine
import ErrandOperator

/// An export of the descriptions of jobs, each job once, with its counts.
struct JobsExport {
    private let withIDs: Bool
    private var seen: Set<[String]> = []
    private var count = 0
    private var unreadable = 0
    /// How many jobs that cannot be read are named.
    private static let mostTold = 20
    private var ofWorkflows = 0

    init(withIDs: Bool) { self.withIDs = withIDs }

    /// Writes jobs. A job that moves during the search may be found twice and is written once.
    ///
    /// - Returns: The number of new jobs.
    mutating func write(_ jobs: [JobSummary]) -> Int {
        let new = jobs.filter { seen.insert([$0.queue, $0.record.id]).inserted }
        for job in new {
            if let line = line(of: job) {
                StandardOutput.write(line)
                count += 1
            } else {
                unreadable += 1
                tellOfUnreadable(job)
            }
        }
        return new.count
    }

    private func tellOfUnreadable(_ job: JobSummary) {
        guard unreadable <= Self.mostTold else { return }
        let reason = job.unreadable.map { ": \($0)" } ?? ""
        StandardError.write("warning: queue \(job.queue), job \(job.record.id) is not exported\(reason)")
    }

    private mutating func line(of job: JobSummary) -> [UInt8]? {
        guard let description = job.stored?.description else { return nil }
        if description.workflow != nil { ofWorkflows += 1 }
        return JSONOutput.written((withIDs ? description.withoutWorkflow() : description.withoutID()).encoded()).bytes
    }

    /// Returns the failure of an export that a broker error has interrupted.
    func failure(_ error: BrokerError) -> CommandFailure {
        let failure = CommandFailure(error)
        let words = "the export is not complete; \(count.counted("job")) exported until then"
        return CommandFailure("\(words): \(failure.message)", failure.status)
    }

    /// Reports the number of exported jobs and the problems with others.
    ///
    /// - Parameter completeness: Whether the search was complete.
    func tell(_ completeness: JobSearch.Completeness) throws(CommandFailure) {
        StandardError.write("\(count.counted("job")) exported")
        if ofWorkflows > 0 {
            let jobs = ofWorkflows.counted("job")
            StandardError.write("note: \(jobs) of workflows, which an import pushes as plain jobs")
        }
        try completeness.unreadable.fail("the other jobs were exported")
        if !completeness.isComplete { StandardError.write("warning: \(JobSearch.someMayBeMissing)") }
        if unreadable > 0 {
            throw CommandFailure(
                "\(unreadable.counted("job")) cannot be read, as listed above (at most \(Self.mostTold) of them), and stay in "
                    + "their queues; delete them, or update this program if a newer version has pushed them",
                ExitStatus.unsuccessful
            )
        }
    }
}
