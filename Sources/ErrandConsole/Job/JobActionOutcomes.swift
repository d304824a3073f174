import Errand
import ErrandCommandLine
import ErrandOperator

/// The outcomes of an action on several jobs.
struct JobActionOutcomes {
    /// The ids of jobs found in exactly one queue, by queue.
    let wanted: [(queue: String, ids: [String])]

    private let ids: [String]
    private var queues: [String: String] = [:]
    private var outcomes: [String: JobOutcome] = [:]
    /// The queues that could not be searched or changed.
    private var places: [UnreadablePlace]
    /// The number of jobs that failed because of these queues.
    private var hindered = 0
    /// The error that ended the action for all queues.
    private var outage: BrokerError?

    /// Makes the initial outcomes from the search.
    ///
    /// - Parameter ended: The outcome for jobs that have ended, if it is known without asking the broker.
    init(of found: FoundJobs, ended: ((JobSummary) -> JobOutcome)?) {
        ids = found.ids
        places = found.unreadable
        var wanted: [String: [String]] = [:]
        for id in ids {
            let queues = (found.jobs[id] ?? []).map(\.queue)
            self.queues[id] = queues.first
            let job = found.jobs[id]?.first
            if queues.count == 1, let job, job.record.state.isOver, let ended {
                outcomes[id] = ended(job)
            } else if let queue = queues.first, queues.count == 1 {
                wanted[queue, default: []].append(id)
            } else if queues.isEmpty, !places.isEmpty {
                // The job may be in the queue that cannot be read.
                outcomes[id] = JobOutcome(
                    word: "unreadable",
                    remark: "\(places.queueNames) cannot be read",
                    isDone: false
                )
                hindered += 1
            } else {
                outcomes[id] = Self.outcome(onPlaces: queues)
            }
        }
        self.wanted = wanted.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func outcome(onPlaces places: [String]) -> JobOutcome {
        guard !places.isEmpty else { return JobOutcome(word: "not_found", isDone: false) }
        let remark = "it is in the queues \(places.joined(separator: ", ")): choose one with --queue"
        return JobOutcome(word: "ambiguous", remark: remark, isDone: false)
    }

    /// Adds the outcomes of a queue's jobs.
    mutating func add(_ outcomes: [JobOutcome], to ids: [String]) {
        for (id, outcome) in zip(ids, outcomes) { self.outcomes[id] = outcome }
    }

    /// Adds a failure of a queue's jobs. The reason is reported once, for the queue or for all of them.
    mutating func fail(_ ids: [String], of queue: String, _ error: BrokerError) {
        let word = error.leavesUnknown ? "unknown" : "not_done"
        if error.isOfOnePlace {
            places.append(UnreadablePlace(queue: queue, error: error, use: .changed))
            add(
                ids.map { _ in JobOutcome(word: word, remark: "queue \(queue) cannot be changed", isDone: false) },
                to: ids
            )
            hindered += ids.count
        } else {
            outage = error
            add(ids.map { _ in JobOutcome(word: word, remark: "the broker failed", isDone: false) }, to: ids)
        }
    }

    /// Writes a line for each job, and warnings about queues.
    func tell(asJSON: Bool) {
        for id in ids {
            let outcome = outcome(of: id)
            if asJSON {
                let object: JSONOutput = [
                    "id": .text(id), "queue": .text(orNull: queues[id]), "verdict": .text(outcome.word),
                    "done": .truth(outcome.isDone),
                ]
                StandardOutput.write(object.bytes)
            } else {
                let word = outcome.word.replacing("_", with: " ")
                StandardOutput.write("\(id) \(word)" + (outcome.remark.map { ": \($0)" } ?? ""))
            }
        }
        places.warn()
    }

    /// Returns the outcome of a job. After an outage, the remaining jobs were not tried.
    private func outcome(of id: String) -> JobOutcome { outcomes[id] ?? JobOutcome(word: "not_tried", isDone: false) }

    /// The failure of the command; `nil` if the action succeeded for all jobs.
    var failure: CommandFailure? {
        let failed = ids.count { !outcome(of: $0).isDone }
        guard failed > 0 else { return places.failure("the jobs of the other queues were done") }
        let words = "not done for \(failed) of \(ids.count.counted("job"))"
        if let outage = outage.map(CommandFailure.init) {
            return CommandFailure("\(words); the broker failed: \(outage.message)", outage.status)
        }
        return CommandFailure("\(words), as listed above", failed == hindered ? places.status : ExitStatus.unsuccessful)
    }
}

extension JobState {
    /// Whether the job has ended and cannot run again.
    fileprivate var isOver: Bool { hasEnded && self != .dead }
}
