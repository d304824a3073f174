import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import Foundation

/// The command `errand why`.
struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Says why a job does not run: paused, not due, its group is full, no worker has its operation …",
        discussion: """
            Example:
              errand why 01KA9ZK9M00001H9J4V5Q6ZBHW --json
            """
    )

    @OptionGroup var jobs: JobOptions

    func run() async throws {
        try await jobs.options.withBroker { broker in
            let found = try await jobs.find(in: broker)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            for job in found.ids.flatMap({ found.jobs[$0] ?? [] }) {
                let wait = try await JobWait(of: job, on: broker, now: now)
                let json: JSONOutput = [
                    "id": .text(job.record.id), "queue": .text(job.queue), "reason": .text(wait.reason.rawValue),
                    "text": .text(wait.text),
                ]
                let words = found.ids.count == 1 ? wait.text : "\(job.record.id)  \(wait.text)"
                StandardOutput.write(jobs.options.json ? json.bytes : Array(words.terminalSafe.utf8))
            }
            found.unreadable.warn()
            let missing = found.ids.filter { found.jobs[$0] == nil }
            if !missing.isEmpty { throw found.failure(ofMissing: missing) }
            if let failure = found.unreadable.failure("the jobs shown are those of the other queues") { throw failure }
        }
    }
}
