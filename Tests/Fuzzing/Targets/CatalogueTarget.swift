import ErrandCatalogue
import ErrandText
import Foundation

/// What must hold of a catalogue, its templates and its durations.
@Sendable func checkCatalogue(_ input: [UInt8]) throws(Violation) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    try checkDuration(text)
    let catalogue: Catalogue
    do { catalogue = try Catalogue(yaml: text, source: "catalogue.yaml") } catch {
        return try requireDecent("\(error)")
    }
    for (name, operation) in catalogue.operations {
        try require(name == operation.name && isToken(name), "the operation \(name.debugDescription)")
        try check(operation)
    }
}

private func check(_ operation: CatalogueOperation) throws(Violation) {
    if let queue = operation.queue { try require(isToken(queue), "the queue \(queue.debugDescription)") }
    if let retries = operation.retries { try require((0...1000).contains(retries), "\(retries) retries") }
    if let backoff = operation.backoff { try check(backoff) }
    if let priority = operation.priority { try require((0...9).contains(priority), "the priority \(priority)") }
    if let timeout = operation.timeout { try requireRange(timeout) }
    if let name = operation.nameTemplate { try check(name) }
    switch operation.kind {
    case .run(let words):
        try require(words.first?.source.isEmpty == false, "no command")
        for word in words { try check(word) }
    case .http(let request):
        try check(request.address)
        for (name, value) in request.headers {
            try require((name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a header with a line break")
        }
    }
}

/// No argument makes an address out of it that is not one, or one of another server unless its name has a place for it.
private func check(_ address: WebAddress) throws(Violation) {
    for value in ["x", "..", "a/../b", "@x:1/?#é \\u0000", "%2e%2E"] {
        do {
            let url = try address.url(json: Array(#"{"a":"\#(value)","path":"\#(value)"}"#.utf8))
            try require(["http", "https"].contains(url.scheme?.lowercased()), "the scheme of an address")
            try require(url.host()?.isEmpty == false, "an address without a host")
        } catch let error as ArgumentError {
            try requireDecent("\(error)")
        } catch let error as Violation {
            throw error
        } catch {
            throw Violation("\(error)")
        }
    }
}

private func check(_ backoff: CatalogueBackoff) throws(Violation) {
    for wait in [backoff.base, backoff.longest].compactMap(\.self) {
        try require(wait >= .milliseconds(1) && wait <= .seconds(365 * 86_400), "the wait \(wait)")
    }
    if let base = backoff.base, let longest = backoff.longest {
        try require(base <= longest, "a base above the longest")
    }
    if let jitter = backoff.jitter { try require((0...1).contains(jitter), "the jitter \(jitter)") }
}

/// A template that was accepted can be filled in, and nothing in it or in the arguments gets a NUL into a command.
private func check(_ template: Template) throws(Violation) {
    let again = try require("a template is refused when it is read again") { try Template(template.source) }
    try require(again == template, "a template that is read again differs")
    do {
        let text = try template.render(json: Array(#"{"a":"x","path":"é\u0000","n":1.50}"#.utf8))
        try require(!text.utf8.contains(0), "a NUL in a command")
    } catch let error as ArgumentError {
        try requireDecent("\(error)")
    } catch let error as Violation {
        throw error
    } catch {
        throw Violation("\(error)")
    }
}

private func checkDuration(_ text: String) throws(Violation) {
    guard text.utf8.count < 40 else { return }
    do {
        let duration = try DurationText.parse(text)
        try requireRange(duration)
        let written = DurationText.format(duration)
        let again = try require("\(written) is no duration") { try DurationText.parse(written) }
        try require(again == duration, "\(duration) is written as \(written)")
    } catch let error as DurationTextError {
        try requireDecent("\(error)")
    } catch let error as Violation {
        throw error
    } catch {
        throw Violation("\(error)")
    }
}

private func requireRange(_ duration: Duration) throws(Violation) {
    try require(duration >= .milliseconds(1) && duration <= DurationText.longest, "the duration \(duration)")
}
