import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// Schedules of a catalogue, stored in the broker by `errand-worker`.
@Suite struct WorkerScheduleTests {
    private let server: RedisServer
    private let catalogue: String

    init() throws {
        server = try RedisServer()
        catalogue = server.directory + "/catalogue.yaml"
    }

    private func write(_ schedules: String) throws {
        let text = """
            operations:
              note:
                run: [sh, -c, "echo noted"]
                name: "note {kind}"
                unique: drop
                queue: notes
            schedules:
            \(schedules)
            """
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
    }

    private func worker() throws -> Program {
        try Program("errand-worker", ["--catalogue", catalogue, "--redis", server.url, "--lease", "2s", "--json"])
    }

    private func broker() throws -> RedisBroker {
        RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "test"))
    }

    @Test func theLogIsAnObjectALineWhenAsked() async throws {
        try write("  {}")
        let worker = try Program(
            "errand-worker",
            ["--catalogue", catalogue, "--redis", server.url, "--verbose", "--log-format", "json"]
        )
        defer { worker.signal(SIGKILL) }
        try await eventually("it has registered: \(worker.lines)") {
            worker.lines.contains { $0.contains("worker serves default, notes") }
        }
        worker.signal(SIGTERM)
        #expect(try await worker.end() == 0)
        #expect(worker.lines.allSatisfy { $0.hasPrefix("{") }, "\(worker.lines)")
        let entries = worker.lines.compactMap { try? JSON(text: $0).object }
        #expect(entries.last?["message"] == "worker has stopped", "\(worker.lines.suffix(5))")
        let registered = try #require(entries.first { $0["message"] == "worker serves default, notes" })
        #expect(registered["level"] == "notice")
        #expect(registered["label"] == "errand-worker")
        #expect(registered["worker.id"]?.string?.isEmpty == false)
    }

    @Test func aScheduleOfTheCatalogueTicksAndRuns() async throws {
        try write(
            """
              pulse: {every: 1s, operation: note, arguments: {kind: daily, n: 5, list: [true, "true", null, 1.50]}, overlap: allow}
              nightly:
                cron: "30 2 * * *"
                time_zone: Europe/Berlin
                operation: note
                overlap: skip
                catch_up: all
                catch_up_limit: 9
                revision: 3
            """
        )
        let broker = try broker()
        defer { broker.close() }
        let worker = try worker()
        defer { worker.signal(SIGKILL) }
        try await eventually("three jobs have finished: \(worker.lines)") {
            try await broker.status(of: "notes").queue.totals["finished"] >= 3
        }
        let pulse = try #require(try await broker.schedule("pulse", on: "notes")?.schedule)
        #expect(pulse.template.arguments.description == #"{"kind":"daily","n":5,"list":[true,"true",null,1.50]}"#)
        #expect(pulse.template.name == "note daily")
        #expect(pulse.template.uniquenessPolicy == .drop)
        let nightly = try #require(try await broker.schedule("nightly", on: "notes")?.schedule)
        #expect(nightly.catchUp == .all(limit: 9))
        #expect(nightly.revision == 3)
        #expect(nightly.template.givenPolicy == nil)
        // A person deletes it; a worker that restarts does not restore it.
        #expect(try await broker.deleteSchedule("nightly", on: "notes"))
        worker.signal(SIGTERM)
        _ = try await worker.end()
        let second = try self.worker()
        defer { second.signal(SIGKILL) }
        try await eventually("the second worker has registered: \(second.lines)") {
            second.lines.contains { $0.contains(#""registered""#) }
        }
        try await eventually("it ticks") {
            try await broker.schedule("pulse", on: "notes")?.pushed ?? 0 > pulse.revision + 3
        }
        #expect(try await broker.schedule("nightly", on: "notes") == nil)
        second.signal(SIGTERM)
        _ = try await second.end()
    }

    @Test(arguments: [
        ("  s: {operation: note}", "schedule \"s\": says neither"),
        (
            "  s: {cron: \"61 * * * *\", operation: note, arguments: {kind: x}}",
            "catalogue.yaml:8: schedule \"s\", key \"cron\""
        ),
        ("  s: {every: 1h, operation: nota}", "did you mean \"note\"?"),
        ("  s: {every: 1h, operation: note, cronn: 5}", "did you mean \"cron\"?"),
        ("  s: {every: 10ms, operation: note, arguments: {kind: x}}", "key \"every\""),
        ("  s: {every: 1h, operation: note}", "the argument \"kind\" is missing; change \"arguments\""),
        ("  s: {cron: \"@daily\", time_zone: Mars/Olympus, operation: note, overlap: skip}", "key \"time_zone\""),
        ("  s: {every: 1h, operation: note, overlap: skip, unique: drop}", "key \"overlap\""),
        (
            "  s: {every: 1h, operation: note, overlap: often}",
            "is not an overlap policy; allowed: allow, skip, after, replace"
        ),
        ("  s: {every: 1h, operation: note, overlap: skip, catch_up: all}", "key \"catch_up_limit\": is missing"),
        ("  a b: {every: 1h, operation: note}", "the schedule's name is not allowed"),
    ])
    func aBadOneIsBadConfiguration(_ schedules: String, _ reason: String) async throws {
        try write(schedules)
        let worker = try worker()
        #expect(try await worker.end() == 78)
        #expect(worker.lines.contains { $0.contains(reason) }, "\(worker.lines)")
    }

    /// Runs a worker until it has printed this and the doctor advises this. It checks stored schedules concurrently, so
    /// its registration does not show that the check is done.
    private func start(_ schedules: String, saying sentences: String..., advised: [String]? = nil) async throws {
        try write(schedules)
        let worker = try worker()
        defer { worker.signal(SIGKILL) }
        for sentence in sentences {
            try await eventually("\(sentence): \(worker.lines)") { worker.lines.contains { $0.contains(sentence) } }
        }
        try await eventually("it has registered: \(worker.lines)") {
            worker.lines.contains { $0.contains(#""registered""#) }
        }
        if let advised { try await eventually("advised: \(advised)") { try await advice() == advised } }
        worker.signal(SIGTERM)
        #expect(try await worker.end() == 0)
        if sentences.isEmpty { #expect(!worker.lines.contains { $0.contains("schedule \"") }, "\(worker.lines)") }
    }

    private func console(_ arguments: String...) async throws -> Output {
        try await Executable.console.run(arguments + ["--redis", server.url])
    }

    private func advice() async throws -> [String] {
        let report = try #require(try await console("doctor", "--json").objects.first)
        #expect(report["clean"] == true)
        return (report["advice"]?.items ?? []).compactMap { $0["kind"]?.string }.filter { $0.hasPrefix("schedule_") }
    }

    private static let nightly = "  nightly: {cron: \"30 2 * * *\", operation: note, arguments: {kind: x}}\n"
    private static let weekly = "  weekly: {cron: \"@weekly\", operation: note, arguments: {kind: y}}"

    @Test func aScheduleDeletedByAPersonIsLeftOutAndReported() async throws {
        try await start(Self.nightly + Self.weekly)
        _ = try await console("schedule", "delete", "nightly", "--queue", "notes")
        #expect(try await advice() == [], "nothing declares it")
        try await start(
            Self.nightly + Self.weekly,
            saying:
                "schedule \"nightly\" of queue \"notes\" is left out, because a person has deleted it; remove it from \(catalogue)"
        )
        #expect(try await advice() == ["schedule_deleted"])
        let listed = try await console("schedule", "list")
        #expect(listed.text.contains("weekly") && !listed.text.contains("nightly"))
        #expect(
            listed.error.contains("nightly of notes is deleted, though \(catalogue) still had it"),
            "\(listed.error)"
        )
        try await start(Self.weekly, advised: [])
        try await start(Self.nightly.replacing("}}", with: "}, revision: 1}") + Self.weekly)
        #expect(try await console("schedule", "show", "nightly", "--queue", "notes").status == 0)
    }

    @Test func aScheduleMissingFromTheFileIsReported() async throws {
        try await start(Self.nightly + Self.weekly)
        let shown = try #require(
            try await console("schedule", "show", "nightly", "--queue", "notes", "--json").objects.first
        )
        #expect(shown["origin"] == "catalogue" && shown["catalogue"]?.string == catalogue)
        #expect(shown["removed_ms"] == .null)
        #expect(try await console("schedule", "list").text.contains("catalogue \(catalogue)"))
        let command = "errand schedule delete nightly --queue notes deletes it"
        for _ in 0..<2 { try await start(Self.weekly, saying: command) }
        #expect(try await advice() == ["schedule_removed"])
        let list = try await console("schedule", "list").text
        #expect(list.contains("removed from \(catalogue)"), "\(list)")
        let removed = try #require(try await console("schedule", "list", "--json").objects.first)
        #expect(removed["removed_ms"] != .null && removed["next_ms"] != .null, "it ticks on")
        // It exists again.
        try await start(Self.nightly + Self.weekly, advised: [])
        try await start(Self.weekly, saying: command)
        _ = try await console("schedule", "delete", "nightly", "--queue", "notes")
        try await start(Self.weekly, advised: [])
    }

    @Test func aScheduleChangedByAPersonIsKeptAndReported() async throws {
        try await start(Self.nightly)
        let edit = ["schedule", "add", "nightly", "note", #"{"kind":"x"}"#, "--queue", "notes", "--cron", "45 3 * * *"]
        #expect(try await Executable.console.run(edit + ["--redis", server.url]).status == 0)
        try await start(
            Self.nightly,
            saying: "schedule \"nightly\" of queue \"notes\" is left as a person has changed it at"
        )
        let kept = try await console("schedule", "show", "nightly", "--queue", "notes")
        #expect(
            kept.text.contains("45 3 * * *") && kept.text.contains("by hand instead of \(catalogue)"),
            "\(kept.text)"
        )
        #expect(try await advice() == ["schedule_edited"])
        try await start(Self.nightly.replacing("}}", with: "}, revision: 1}"), advised: [])
        let newer = try await console("schedule", "show", "nightly", "--queue", "notes")
        #expect(newer.text.contains("30 2 * * *"), "\(newer.text)")
        #expect(try await advice() == [])
    }

    @Test func `a schedule that a person deleted and created again counts as changed by a person`() async throws {
        try await start(Self.nightly)
        _ = try await console("schedule", "delete", "nightly", "--queue", "notes")
        let add = ["schedule", "add", "nightly", "note", #"{"kind":"x"}"#, "--queue", "notes", "--cron", "45 3 * * *"]
        #expect(try await Executable.console.run(add + ["--redis", server.url]).status == 0)
        #expect(try await advice() == [], "no file is known to have it")
        try await start(
            Self.nightly,
            saying: "is left as a person has changed it at",
            "revision there above 1",
            advised: ["schedule_edited"]
        )
        let list = try await console("schedule", "list")
        #expect(list.text.contains("by hand instead of \(catalogue)"), "\(list.text)")
        // A repetition changes nothing, and a higher revision replaces it.
        try await start(Self.nightly, saying: "is left as a person has changed it at")
        #expect(try await advice() == ["schedule_edited"])
        try await start(Self.nightly.replacing("}}", with: "}, revision: 2}"), advised: [])
    }

    @Test func `a schedule that a person changed and the file lost is reported as both`() async throws {
        try await start(Self.nightly + Self.weekly)
        let edit = ["schedule", "add", "nightly", "note", #"{"kind":"x"}"#, "--queue", "notes", "--cron", "45 3 * * *"]
        #expect(try await Executable.console.run(edit + ["--redis", server.url]).status == 0)
        let sentence = "\"nightly\" of queue \"notes\" was removed from \(catalogue), and still pushes jobs as a"
        let command = "errand schedule delete nightly --queue notes"
        for _ in 0..<2 { try await start(Self.weekly, saying: sentence, command) }
        #expect(try await advice() == ["schedule_removed"])
        let list = try await console("schedule", "list")
        #expect(list.text.contains("by hand, removed from \(catalogue)"), "\(list.text)")
        let shown = try await console("schedule", "show", "nightly", "--queue", "notes", "--json").object
        #expect(shown["origin"] == "person" && shown["removed_ms"] != .null && shown["edited_ms"] != .null)
        // A second change by a person does not restore it in the file.
        #expect(try await Executable.console.run(edit.dropLast() + ["15 4 * * *", "--redis", server.url]).status == 0)
        #expect(try await advice() == ["schedule_removed"])
        // Once the file has it again, it only counts as changed.
        try await start(
            Self.nightly + Self.weekly,
            saying: "is left as a person has changed it at",
            advised: ["schedule_edited"]
        )
    }
}
