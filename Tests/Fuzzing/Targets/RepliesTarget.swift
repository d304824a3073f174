import Errand
import ErrandRedis

/// The properties of a server's replies: of the protocol and of all parsers of replies.
///
/// The first byte determines where the bytes are split, as a network may.
@Sendable func checkReplies(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let bytes = input.dropFirst()
    let cut = bytes.isEmpty ? 0 : Int(first) % bytes.count
    guard let values = try read([Array(bytes.prefix(cut)), Array(bytes.dropFirst(cut))]) else { return }
    for value in values {
        try decode(value)
        var written: [UInt8] = []
        write(value, to: &written)
        guard let again = try read([written]) else { throw Violation("what was read cannot be written") }
        try require(again == [value], "what was read and written differs")
    }
}

/// The replies in these parts; `nil` if the reader rejects them, with a proper error.
private func read(_ parts: [[UInt8]]) throws(Violation) -> [RESPValue]? {
    guard var reader = RESPReader() else { return nil }
    var values: [RESPValue] = []
    do throws(RESPReaderError) {
        for part in parts { values += try reader.feed(part) }
    } catch {
        try require(!error.reason.isEmpty, "an error without a reason")
        return nil
    }
    return values
}

/// Parses every reply as every kind of reply.
private func decode(_ value: RESPValue) throws(Violation) {
    if case .error(let text) = value { try check(ServerError(text)) }
    for count in 0...3 {
        guard let answer = ExchangeReply(value, reports: count) else { continue }
        // A pre-answered call has no outcomes of reports.
        let verdicts = answer.isPreanswered ? 0 : count
        try require(answer.accepted.count == verdicts, "\(answer.accepted.count) verdicts for \(count) reports")
        for claim in answer.claims { try check(claim) }
    }
    if let dispatched = value.bytes.flatMap({ DispatchedClaim($0, secret: "s3cret") }) {
        try require(dispatched.call > 0, "an answer to call \(dispatched.call)")
        try check(dispatched.claim)
    }
    if let beat = Beat(value) { try require(beat.claims >= 0, "\(beat.claims) claims") }
    if let promotion = Promotion(value) {
        try require(promotion.promoted >= 0 && promotion.nextDue ?? 0 >= 0, "a promotion that cannot be")
    }
    if let recovery = Recovery(value) { try require(recovery.recovered >= 0, "a recovery that cannot be") }
    if let receipt = Receipt(value, job: "made", queue: "default") {
        try require(receipt.outcome != .unknown && isID(receipt.id), "the receipt \(receipt)")
    }
    _ = RetryOutcome(value)
    if let page = TimetablePage(value) {
        try require(page.now >= 0 && page.next != "-1", "a timetable that cannot be")
        for record in page.records { try checkRecord(record, now: page.now) }
    }
    if let record = JobRecord(value, in: "default") { _ = try? JobEnvelope.read(stored: record.body) }
    if let page = JobPage(value, in: "default") {
        try require(page.jobs.count == page.positions.count && page.next ?? 0 >= 0, "a page that cannot be")
        try require(page.positions.allSatisfy { $0 >= 0 }, "a place before the first")
    }
    if let status = QueueStatus(value, of: "default") {
        try require(status.ready >= 0 && status.dead >= 0, "a status that cannot be")
    }
    if let part = SessionsReply(value) { try require(part.next != "0", "a last part that goes on") }
    for element in value.elements ?? [] { _ = SessionStatus(element) }
    _ = RedisInfo(text: value.text ?? "")
}

private func check(_ claim: Claim) throws(Violation) {
    try require(claim.token > 0 && claim.attempt > 0 && claim.crashes >= 0, "a claim that cannot be")
}

private func check(_ error: ServerError) throws(Violation) {
    guard let address = try? RedisAddress(url: "redis://user:hush-hush@127.0.0.1:6379") else { return }
    let converted = error.brokerError(at: address)
    try requireDecent("\(converted)")
    try require(converted.message.utf8.count < 4096, "a message of \(converted.message.utf8.count) bytes")
}

/// A second implementation of Redis' protocol.
private func write(_ value: RESPValue, to bytes: inout [UInt8]) {
    switch value {
    case .status(let text): bytes += Array("+\(text)\r\n".utf8)
    case .error(let text): bytes += Array("-\(text)\r\n".utf8)
    case .integer(let number): bytes += Array(":\(number)\r\n".utf8)
    case .null: bytes += Array("$-1\r\n".utf8)
    case .bulk(let text): bytes += Array("$\(text.count)\r\n".utf8) + text + [0x0D, 0x0A]
    case .array(let elements):
        bytes += Array("*\(elements.count)\r\n".utf8)
        for element in elements { write(element, to: &bytes) }
    }
}
