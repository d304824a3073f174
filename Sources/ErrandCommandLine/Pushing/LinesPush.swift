package import Errand
import ErrandOperator
import ErrandText
import Logging

/// Pushes a job for each line of an input, in batches as they are read.
package struct LinesPush {
    private let input: LineInput
    private let producer: Producer
    private let json: Bool
    private let measuring: Measuring?
    private let filled: (OperationDescription) throws -> OperationDescription
    private var progress: ProgressBar
    private var tally = LinesTally()
    private var lost = LostQueues()

    /// Makes a push.
    ///
    /// - Parameters:
    ///   - input: The lines.
    ///   - producer: The producer that pushes the jobs.
    ///   - json: Whether to write a receipt for every accepted line.
    ///   - measuring: Counts the receipts, if metrics are enabled.
    ///   - filled: Adds missing values to a line's description; an error refuses the line.
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

    /// Pushes until the input ends, and reports the outcomes of its lines.
    ///
    /// - Parameter onReceipts: Called with the receipts of each batch.
    /// - Throws: `CommandFailure` if a line was refused or not accepted, if a reply was lost, or if the broker cannot
    ///   be reached.
    package mutating func run(onReceipts: ([Receipt]) async throws -> Void = { _ in }) async throws {
        do { try await pushAll(onReceipts) } catch {
            progress.hide()
            // After an error the summary of the lines so far precedes the message.
            if !tally.isEmpty { StandardError.write(tally.summary) }
            throw error
        }
        progress.hide()
        StandardError.write(tally.summary)
        if let failure = tally.failure(hasReceipts: json) { throw failure }
    }

    private mutating func pushAll(_ onReceipts: ([Receipt]) async throws -> Void) async throws {
        while let lines = try await input.nextBatch() {
            try checkEncoding(of: lines)
            let jobs = lines.compactMap { job(of: $0) }
            if !jobs.isEmpty { try await onReceipts(try await push(jobs)) }
            let (consumed, count) = (input.consumed, tally.pushed)
            progress.update(consumed, "\(count) pushed")
        }
    }

    private func checkEncoding(of lines: [InputLine]) throws(CommandFailure) {
        guard let first = lines.first, first.number == 1, case .bytes(let bytes) = first.content,
            let objection = TextEncoding.objection(to: bytes)
        else { return }
        throw CommandFailure("\(input.name) \(objection)", ExitStatus.badInput)
    }

    private mutating func push(_ jobs: [LineJob]) async throws -> [Receipt] {
        lost.forgetOld()
        let results = await producer.pushEach(jobs.map(\.envelope), lost: &lost)
        var taken: [(job: LineJob, receipt: Receipt)] = []
        var refusals: [Refusal] = []
        for (job, result) in zip(jobs, results) {
            switch result {
            case .success(let receipt): taken.append((job, receipt))
            case .failure(let error):
                refusals.append(Refusal(line: job.number, queue: job.envelope.queue, error: error))
            }
        }
        let receipts = taken.map(\.receipt)
        _ = try await measuring?.counting(taken.map(\.job.description)) { receipts }
        for receipt in receipts { tally.count(receipt) }
        if json {
            StandardOutput.write(raw: receipts.flatMap { $0.json.bytes + [UInt8(ascii: "\n")] })
        } else {
            listUnconfirmed(taken)
        }
        try report(refusals)
        return receipts
    }

    /// Lists the ids of jobs that the broker did not confirm, with which they can be pushed again.
    private mutating func listUnconfirmed(_ taken: [(job: LineJob, receipt: Receipt)]) {
        let unconfirmed = taken.filter { $0.receipt.outcome == .unknown }
        if !unconfirmed.isEmpty { progress.hide() }
        for (job, receipt) in unconfirmed {
            StandardError.write("line \(job.number) not confirmed; its id is \(receipt.id)", as: .warning)
        }
    }

    /// A line that the broker did not accept.
    private struct Refusal {
        let line: Int
        let queue: String
        let error: BrokerError
    }

    /// Whether another queue may accept its lines nevertheless.
    private func isOfQueue(_ refusal: Refusal) -> Bool {
        switch refusal.error.code {
        case .full, .refused: true
        case .notReachable: lost.outage == nil
        default: false
        }
    }

    /// Reports lines that were not accepted. If one queue did not accept its lines, another may accept the following
    /// ones; a broker of which no server replies accepts none.
    private mutating func report(_ refusals: [Refusal]) throws(CommandFailure) {
        if !refusals.isEmpty { progress.hide() }
        let ofQueues = Dictionary(grouping: refusals.filter(isOfQueue), by: \.queue)
        for (queue, lines) in ofQueues.sorted(by: { $0.key < $1.key }) {
            guard let first = lines.first else { continue }
            tally.notAccepted(lines.count, Self.failure(first.error))
            let place = LineRanges(lines.map(\.line)).description
            StandardError.write("\(place) not pushed to queue \(queue): \(first.error.message)", as: .warning)
        }
        let others = refusals.filter { !isOfQueue($0) }
        guard let first = others.first else { return }
        let failure = CommandFailure(first.error)
        tally.notAccepted(others.count, failure)
        let place = LineRanges(others.map(\.line)).description + (input.hasEnded ? "" : " and later lines")
        throw CommandFailure(
            "\(place) not pushed: \(failure.message)",
            tally.hasUnknown ? ExitStatus.unknown : failure.status
        )
    }

    /// Returns the failure for lines that one queue did not accept; a corrupt queue is not a configuration error.
    private static func failure(_ error: BrokerError) -> CommandFailure {
        error.code == .refused ? CommandFailure(error.message, ExitStatus.unsuccessful) : CommandFailure(error)
    }

    /// Parses a line; `nil` if it is empty or refused.
    private mutating func job(of line: InputLine) -> LineJob? {
        do {
            switch line.content {
            case .tooLong(let count):
                throw CommandFailure(
                    "the line has \(count) bytes, but at most \(DescriptionLimits.descriptionBytes) are allowed; "
                        + "store large data where the worker can fetch it, and pass a reference",
                    ExitStatus.badInput
                )
            case .bytes(let bytes):
                let text = TextEncoding.withoutMark(bytes)
                if text.allSatisfy(Self.isBlank) { return nil }
                let description = try filled(try Self.description(in: text))
                return LineJob(number: line.number, description: description, envelope: try description.makeEnvelope())
            }
        } catch {
            progress.hide()
            tally.reject()
            StandardError.write("line \(line.number): \(error)", as: .warning)
            return nil
        }
    }

    /// Parses a description. Errors name the column.
    private static func description(in line: [UInt8]) throws(CommandFailure) -> OperationDescription {
        do { return try OperationDescription(json: line) } catch {
            // Such as the first line of an indented object.
            let isCut = error.code == .malformedJSON && error.offset == line.count
            let hint = isCut ? "; each line must hold a whole description" : ""
            throw CommandFailure(error.explanation(in: line) + hint, ExitStatus.badInput)
        }
    }

    private struct LineJob {
        let number: Int
        let description: OperationDescription
        let envelope: JobEnvelope
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }
}
