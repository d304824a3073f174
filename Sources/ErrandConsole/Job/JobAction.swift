import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// What became of one job that something was to be done with.
struct JobVerdict: Sendable {
    /// One word, for programs.
    let word: String
    /// A remark for people.
    var remark: String?
    /// Whether it was done.
    let isDone: Bool
}

/// Does the same with several jobs, wherever they are, and tells what became of each.
struct JobAction {
    let jobs: JobOptions
    let act: (_ broker: RedisBroker, _ ids: [String], _ queue: String) async throws(BrokerError) -> [JobVerdict]

    func run() async throws {
        try await jobs.options.withBroker { broker in
            let found = try await jobs.find(in: broker)
            var verdicts: [String: JobVerdict] = [:]
            var queues: [String: String] = [:]
            found.unreadable.warn()
            for id in jobs.ids {
                let places = (found.jobs[id] ?? []).map(\.queue)
                queues[id] = places.first
                if places.count != 1 { verdicts[id] = Self.verdict(onPlaces: places) }
            }
            let wanted = Dictionary(grouping: jobs.ids.unique.filter { verdicts[$0] == nil }) { queues[$0] ?? "" }
            var failure: BrokerError?
            for (queue, ids) in wanted.sorted(by: { $0.key < $1.key }) {
                do throws(BrokerError) {
                    for (id, verdict) in zip(ids, try await act(broker, ids, queue)) { verdicts[id] = verdict }
                } catch {
                    failure = failure ?? error
                    let word = error.leavesUnknown ? "unknown" : "not_done"
                    let verdict = JobVerdict(word: word, remark: error.message, isDone: false)
                    for id in ids { verdicts[id] = verdict }
                }
            }
            try tell(verdicts, queues, failure.map(CommandFailure.init))
            if let failure = found.unreadable.failure("it was done with the jobs of the others") { throw failure }
        }
    }

    private static func verdict(onPlaces places: [String]) -> JobVerdict {
        guard !places.isEmpty else { return JobVerdict(word: "not_found", isDone: false) }
        let remark = "it is in the queues \(places.joined(separator: ", ")): say which with --queue"
        return JobVerdict(word: "ambiguous", remark: remark, isDone: false)
    }

    private func tell(
        _ verdicts: [String: JobVerdict],
        _ queues: [String: String],
        _ failure: CommandFailure?
    ) throws(CommandFailure) {
        var failed = 0
        for id in jobs.ids.unique {
            guard let verdict = verdicts[id] else { continue }
            if !verdict.isDone { failed += 1 }
            if jobs.options.json {
                let object: JSONOutput = [
                    "id": .text(id), "queue": .text(orNull: queues[id]), "verdict": .text(verdict.word),
                    "done": .truth(verdict.isDone),
                ]
                StandardOutput.write(object.bytes)
            } else {
                let word = verdict.word.replacing("_", with: " ")
                StandardOutput.write("\(id) \(word)" + (verdict.remark.map { ": \($0)" } ?? ""))
            }
        }
        if failed > 0 {
            throw CommandFailure(
                "not done for \(failed) of \(jobs.ids.unique.count.counted("job"))"
                    + (failure.map { ": \($0.message)" } ?? ""),
                failure?.status ?? ExitStatus.unsuccessful
            )
        }
    }
}

extension [String] {
    /// Each element once, in the order of the first ones.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
