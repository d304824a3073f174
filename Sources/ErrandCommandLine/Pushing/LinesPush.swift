package import Errand
import ErrandOperator
import Logging

/// Pushes a job for each line of an input, in batches as they are read.
package struct LinesPush {
    private let input: LineInput
    private let producer: Producer
    private let json: Bool
    private let measuring: Measuring?
    private let filled: (OperationDescription) throws -> OperationDescription
    private var progress: ProgressBar
    private var outcomes: [Receipt.Outcome: Int] = [:]
    private var refused = 0

    /// Makes a push.
    ///
    /// - Parameters:
    ///   - json: whether a receipt is written for every line that was taken.
    ///   - measuring: what counts the receipts, where that is wished.
    ///   - filled: adds what a line leaves out; an error refuses the line.
    package init(
        input: LineInput,
        producer: Producer,
        json: Bool,
        measuring: Measuring? = nil,
        filled: @escaping (OperationDescription) throws -> OperationDescription = { $0 }
    ) {
        self.input = input
        self.producer = producer
        self.json = json
        self.measuring = measuring
        self.filled = filled
        progress = ProgressBar(total: input.size)
    }

    /// Pushes until the input ends, and tells what became of its lines.
    ///
    /// - Throws: `CommandFailure` when a line was refused, when an answer was lost, and when the broker takes no more.
    package mutating func run() async throws {
        while let lines = try await input.nextBatch() {
            let jobs = lines.compactMap { job(of: $0) }
            if !jobs.isEmpty { try await push(jobs, lines) }
            let (consumed, count) = (input.consumed, pushed)
            progress.update(consumed, "\(count) pushed")
        }
        progress.hide()
        StandardError.write(summary)
        try judge()
    }

    private mutating func push(_ jobs: [LineJob], _ lines: [InputLine]) async throws {
        let receipts: [Receipt]
        do { receipts = try await handOver(jobs) } catch let error as BrokerError {
            progress.hide()
            let failure = CommandFailure(error)
            let place =
                "lines \(lines.first?.number ?? 0) to \(lines.last?.number ?? 0) and what follows them were not pushed"
            StandardError.write(summary)
            throw CommandFailure(
                "\(place): \(failure.message)",
                outcomes[.unknown] == nil ? failure.status : ExitStatus.unknown
            )
        }
        for receipt in receipts { outcomes[receipt.outcome, default: 0] += 1 }
        if json { StandardOutput.write(raw: receipts.flatMap { $0.json.bytes + [UInt8(ascii: "\n")] }) }
    }

    private func handOver(_ jobs: [LineJob]) async throws -> [Receipt] {
        let envelopes = jobs.map(\.envelope)
        guard let measuring else { return try await producer.push(envelopes: envelopes) }
        return try await measuring.counting(jobs.map(\.description)) {
            try await producer.push(envelopes: envelopes)
        }
    }

    /// What a line describes; `nil` for an empty one and for one that is refused.
    private mutating func job(of line: InputLine) -> LineJob? {
        do {
            switch line.content {
            case .tooLong(let count):
                throw CommandFailure(
                    "the line has \(count) bytes, at most \(DescriptionLimits.descriptionBytes) are allowed; "
                        + "put large data where the worker can fetch it and pass a reference",
                    ExitStatus.badInput
                )
            case .bytes(let bytes):
                if bytes.allSatisfy(Self.isBlank) { return nil }
                let description = try filled(OperationDescription(json: bytes))
                return LineJob(description: description, envelope: try description.settled())
            }
        } catch {
            progress.hide()
            refused += 1
            StandardError.write("line \(line.number): \(error)", as: .warning)
            return nil
        }
    }

    private struct LineJob {
        let description: OperationDescription
        let envelope: JobEnvelope
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }

    private var pushed: Int { outcomes.values.reduce(0, +) }

    private var summary: String {
        let counts = Receipt.Outcome.allCases.compactMap { outcome in
            outcomes[outcome].map { "\($0) \(outcome.rawValue)" }
        }
        let words = counts + (refused > 0 ? ["\(refused) refused"] : [])
        return words.isEmpty ? "no jobs in the input" : words.joined(separator: ", ")
    }

    private func judge() throws(CommandFailure) {
        if let count = outcomes[.unknown] {
            // Stronger than "a line was refused", which promises that all others were pushed.
            throw CommandFailure(
                "the broker did not confirm \(count.counted("job")): they may or may not have been accepted. "
                    + "Push them again with the ids of their receipts: that never makes a second job",
                ExitStatus.unknown
            )
        }
        if refused > 0 {
            throw CommandFailure("\(refused.counted("line")) refused; the rest was pushed", ExitStatus.badInput)
        }
    }
}
