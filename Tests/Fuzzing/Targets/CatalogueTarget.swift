import Errand
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
        try check(operation.values)
        if let name = operation.nameTemplate { try check(name) }
        try check(operation.kind)
    }
    for schedule in catalogue.schedules { try check(schedule.values) }
    try checkSchedules(of: catalogue)
}

/// Schedules that are made of a catalogue are stored, and read again as the same.
private func checkSchedules(of catalogue: Catalogue) throws(Violation) {
    let schedules: [Schedule]
    do { schedules = try catalogue.makeSchedules() } catch {
        return try requireDecent("\(error)")
    }
    for schedule in schedules {
        let again = try require("a schedule cannot be read") { try Schedule(json: schedule.encoded()) }
        try require(again == schedule, "a schedule that is written and read again differs")
    }
}

private func check(_ values: JobValues) throws(Violation) {
    if let queue = values.queue { try require(isToken(queue), "the queue \(queue.debugDescription)") }
    if let retries = values.retries { try require((0...1000).contains(retries), "\(retries) retries") }
    if let backoff = values.backoff { try requireRules(backoff) }
    if let priority = values.priority { try require((0...9).contains(priority), "the priority \(priority)") }
    if let timeout = values.timeout { try requireRange(timeout) }
}

private func check(_ kind: CatalogueOperation.Kind) throws(Violation) {
    switch kind {
    case .run(let words):
        try require(words.first?.source.isEmpty == false, "no command")
        for word in words { try check(word) }
    case .serve(let pool):
        try require(pool.command.arguments.first?.isEmpty == false, "no command")
        try require((1...1000).contains(pool.command.instances), "\(pool.command.instances) instances")
    case .http(let request):
        try check(request.address)
        for (name, value) in request.headers {
            try require((name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a header with a line break")
        }
    }
}

/// No argument makes an address out of it that is not one, or one of another server unless its name has a place for it.
private func check(_ address: WebAddress) throws(Violation) {
    for value in ["x", "..", "a/../b", "@x:1/?#é \u{0}", "%2e%2E"] {
        let value = JSONText(stringLiteral: value)
        let url: URL
        do { url = try address.url(["a": value, "path": value]) } catch {
            try requireDecent("\(error)")
            continue
        }
        try require(["http", "https"].contains(url.scheme?.lowercased()), "the scheme of an address")
        try require(url.host()?.isEmpty == false, "an address without a host")
    }
}

/// A template that was accepted can be filled in, and nothing in it or in the arguments gets a NUL into a command.
private func check(_ template: Template) throws(Violation) {
    let again = try require("a template is refused when it is read again") { try Template(template.source) }
    try require(again == template, "a template that is read again differs")
    try checkFilling(template, with: ["a": "x", "path": "é\u{0}", "n": 1.5])
}

/// Arguments fill a template, or are refused in one line.
func checkFilling(_ template: Template, with arguments: JSONText) throws(Violation) {
    let text: String
    do { text = try template.render(arguments) } catch { return try requireDecent("\(error)") }
    try require(!text.utf8.contains(0), "a NUL in a command")
}

private func checkDuration(_ text: String) throws(Violation) {
    guard text.utf8.count < 40 else { return }
    let duration: Duration
    do { duration = try DurationText.parse(text) } catch { return try requireDecent("\(error)") }
    try requireRange(duration)
    let written = DurationText.format(duration)
    let again = try require("\(written) is no duration") { try DurationText.parse(written) }
    try require(again == duration, "\(duration) is written as \(written)")
}

private func requireRange(_ duration: Duration) throws(Violation) {
    try require(duration >= .milliseconds(1) && duration <= DurationText.longest, "the duration \(duration)")
}
