import Errand
import Foundation
import TestSupport
import Testing

/// `errand jobs` with filters, and its actions on many jobs.
@Suite struct ConsoleManyJobsTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ lines: [String]) async throws {
        let input = lines.joined(separator: "\n")
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: input)
        #expect(output.status == 0, "\(output.error)")
    }

    /// Dead jobs, one with each error.
    private func pushDead(_ errors: [String]) async throws {
        try await push(errors.indices.map { #"{"operation":"work","id":"dead-\#($0)","name":"picture \#($0)"}"# })
        let desk = try await Desk(server)
        for error in errors { try await desk.work(.failed, error: error) }
    }

    private func jobs(_ arguments: [String], input: String = "") async throws -> Output {
        try await Executable.console.run(["jobs"] + arguments, on: server, input: input)
    }

    private func ids(_ arguments: String...) async throws -> [String] {
        // Without --scan a list ends after a time limit, which it may reach while many tests run.
        let output = try await jobs(["list", "--json", "--scan", "100000"] + arguments)
        #expect(output.status == 0, "\(output.error)")
        return try output.objects.compactMap { $0["id"]?.string }
    }

    @Test(arguments: ["--error", "--name-contains"]) func anEmptyFilterMatchesNothing(_ option: String) async throws {
        try await pushDead(["no such file"])
        let output = try await jobs(["delete", option, "", "--yes"])
        #expect(output.status == 64)
        #expect(output.error.contains("\(option) is empty"), "\(output.error)")
        #expect(try await ids("--state", "dead") == ["dead-0"])
    }

    @Test func filtersByPartsOfNameAndError() async throws {
        try await pushDead(["Connection refused", "no such file", "connection reset"])
        #expect(try await ids("--error", "CONNECTION") == ["dead-2", "dead-0"])
        #expect(try await ids("--name-contains", "PICTURE 1") == ["dead-1"])
        #expect(try await ids("--error", "connection", "--name-contains", "2") == ["dead-2"])
        #expect(try await ids("--error", "other") == [])
    }

    @Test func filtersByTime() async throws {
        try await push([
            #"{"operation":"work","id":"soon","not_before_ms":4102444800000}"#,
            #"{"operation":"work","id":"late","not_before_ms":4102448400000}"#, #"{"operation":"work","id":"now"}"#,
        ])
        #expect(try await ids("--since", "2100-01-01T00:00:00Z") == ["soon", "late"])
        #expect(try await ids("--since", "2100-01-01T00:00:00.001Z") == ["late"])
        #expect(try await ids("--since", "1h", "--until", "2100-01-01T01:00:00Z") == ["now", "soon"])
        #expect(try await ids("--until", "1h") == [])
        let neither = try await jobs(["--since", "yesterday"])
        #expect(neither.status == 64 && neither.error.contains("neither an age, such as 2h"), "\(neither.error)")
    }

    @Test func reportsItsPositionAndContinuesFromThere() async throws {
        try await push((0..<1200).map { #"{"operation":"\#($0 % 100 == 99 ? "rare" : "work")","id":"j\#($0)"}"# })
        let first = try await jobs(["--operation", "rare", "--scan", "700", "--json"])
        #expect(try first.objects.map { $0["id"]?.string } == ["j99", "j199", "j299", "j399", "j499", "j599", "j699"])
        #expect(first.error.hasSuffix("examined 700 of 1,200; continue with --from default:ready:700\n"))
        let second = try await jobs(["--operation", "rare", "--from", "default:ready:700", "--limit", "2", "--json"])
        #expect(try second.objects.map { $0["id"]?.string } == ["j799", "j899"])
        let cursor = try #require(second.error.split(separator: " ").last).dropLast()
        #expect(try await ids("--operation", "rare", "--from", String(cursor)) == ["j999", "j1099", "j1199"])
        #expect(try await jobs(["--from", "nonsense"]).status == 64)
    }

    @Test func asksBeforeItRetriesMany() async throws {
        try await pushDead(["refused", "other", "refused"])
        let asked = try await jobs(["retry", "--error", "refused"], input: "no\n")
        #expect(asked.status == 1)
        #expect(asked.error.contains("Retry 2 jobs?"))
        #expect(try await ids("--state", "dead").count == 3)
        let done = try await jobs(["retry", "--error", "refused", "--json"], input: "yes\n")
        #expect(done.status == 0, "\(done.error)")
        #expect(try done.object == ["done": 2, "missed": 0, "verdicts": ["retried": 2]])
        #expect(try await ids("--state", "dead") == ["dead-1"])
        #expect(try await ids("--state", "ready").sorted() == ["dead-0", "dead-2"])
    }

    @Test func reportsWhatItCouldNotRetry() async throws {
        try await push([#"{"operation":"work","id":"old","name":"n","unique":"drop"}"#])
        let desk = try await Desk(server)
        try await desk.work(.failed, error: "x")
        try await push([#"{"operation":"work","id":"new","name":"n","unique":"drop"}"#])
        let output = try await jobs(["retry", "--yes", "--json"])
        #expect(output.status == 1)
        #expect(try output.object == ["done": 0, "missed": 1, "verdicts": ["name_taken": 1]])
        #expect(try await ids("--state", "dead") == ["old"])
    }

    @Test func cancelsAndDeletesByFilter() async throws {
        try await pushDead(["a", "b"])
        try await push((0..<1500).map { #"{"operation":"\#($0 < 1100 ? "bulk" : "work")","id":"j\#($0)"}"# })
        let cancelled = try await jobs(["cancel", "--operation", "bulk", "--yes"])
        #expect(cancelled.text == "1,100 cancelled\n", "\(cancelled.error)")
        #expect(try await ids("--state", "ready", "--limit", "1000").count == 400)
        let deleted = try await jobs(["delete", "--yes", "--json"])
        #expect(try deleted.object == ["done": 2, "missed": 0, "verdicts": ["deleted": 2]])
        #expect(try await ids("--state", "dead") == [])
        #expect(try await jobs(["delete", "--yes"]).text == "no such jobs\n")
        #expect(try await jobs(["retry", "--state", "ready", "--yes"]).status == 64)
        let doctor = try await Executable.console.run(["doctor"], on: server)
        #expect(doctor.status == 0, "\(doctor.text)")
    }

    @Test func exportsWhatItImports() async throws {
        try await push([
            #"{"operation":"work","id":"a","arguments":{"n":1.0},"extra":[1,2],"priority":7}"#,
            #"{"operation":"work","id":"b","not_before_ms":4102444800000}"#,
        ])
        let arguments = "{\n  \"over\": \"lines\"\n}"
        let pushed = try await Executable.producer.run(["push", "work", arguments, "--id", "c"], on: server)
        #expect(pushed.status == 0)
        let exported = try await jobs(["export"])
        #expect(exported.status == 0)
        #expect(exported.error.hasSuffix("3 jobs exported\n"))
        let other = try RedisServer()
        let imported = try await Executable.console.run(["jobs", "import", "-"], on: other, input: exported.text)
        #expect(imported.status == 0, "\(imported.error)")
        let again = try await Executable.console.run(["jobs", "export"], on: other)
        #expect(again.text == exported.text)
        #expect(again.lines.count == 3)
        #expect(again.text.contains(#""extra":[1,2]"#) && again.text.contains(#"{"n":1.0}"#))
    }

    @Test func exportsJobsOfWorkflowsAsJobsOutsideOfThem() async throws {
        let flow = #"{"workflow":"flow","jobs":{"a":{"operation":"work"},"b":{"operation":"work","after":["a"]}}}"#
        let pushed = try await Executable.producer.run(["push", "--workflow", "-", "--json"], on: server, input: flow)
        #expect(pushed.status == 0, "\(pushed.error)")
        let exported = try await jobs(["export"])
        #expect(exported.error.contains("1 job exported\nnote: 1 job of workflows"), "\(exported.error)")
        let other = try RedisServer()
        let imported = try await Executable.console.run(["jobs", "import", "-"], on: other, input: exported.text)
        #expect(imported.status == 0, "\(imported.error)")
        let found = try await Executable.console.run(["jobs", "--json"], on: other).objects
        #expect(found.map { $0["state"]?.string } == ["ready"])
    }

    @Test func `an import that restores nothing reports that`() async throws {
        try await push([
            #"{"operation":"work","id":"a"}"#, #"{"operation":"work","id":"b"}"#, #"{"operation":"work","id":"c"}"#,
        ])
        let exported = try await jobs(["export"]).text
        #expect(try await jobs(["delete", "--state", "ready", "--yes"]).status == 0)
        try await push([#"{"operation":"work","id":"d"}"#])
        #expect(try await Executable.console.run(["job", "cancel", "d"], on: server).status == 0)
        let lines = exported + #"{"operation":"work","id":"d"}"# + "\n" + #"{"operation":"work","id":"e"}"# + "\n"
        let imported = try await jobs(["import", "-"], input: lines)
        #expect(imported.status == 1)
        #expect(imported.error.contains("1 accepted, 4 exists"), "\(imported.error)")
        #expect(imported.error.contains("4 jobs not restored"), "\(imported.error)")
        #expect(imported.error.contains("(1 cancelled, 3 deleted)"), "\(imported.error)")
        // The existing jobs are no failure.
        #expect(try await jobs(["import", "-"], input: #"{"operation":"work","id":"e"}"#).status == 0)
        let new = try await jobs(["import", "-", "--new-ids"], input: exported)
        #expect(new.status == 0, "\(new.error)")
        #expect(try await ids("--state", "ready").count == 4)
    }

    @Test func `a queue that fails does not delay the others, and the results are reported`() async throws {
        for queue in ["a", "b"] {
            let line = #"{"operation":"work","id":"in-\#(queue)","queue":"\#(queue)"}"#
            try await push([line])
            let desk = try await Desk(server, queues: [queue])
            try await desk.work(.failed, error: "no", queue: queue)
        }
        try server.run("DEL", "errand:{a}:idle")
        try server.run("SET", "errand:{a}:idle", "of another type")
        let retried = try await jobs(["retry", "--yes"])
        #expect(retried.status == 1)
        #expect(retried.text == "1 not done, 1 retried\n", "\(retried.error)")
        #expect(retried.error.contains("1 job not retried: 1 queue cannot be read or changed"), "\(retried.error)")
        let one = try await Executable.console.run(["job", "cancel", "in-a", "in-b"], on: server)
        #expect(one.status == 1)
        #expect(one.text.contains("in-b cancelled\n"), "\(one.text)")
        #expect(one.error.contains("not done for 1 of 2 jobs"), "\(one.error)")
        #expect(!one.error.contains("nothing was done"))
    }

    @Test func importsTheSameJobsAsNewOnesOnlyWhenAsked() async throws {
        try await pushDead(["x"])
        let same = try await jobs(["import", "-", "--json"], input: try await jobs(["export"]).text)
        #expect(try same.object["outcome"] == "exists")
        let new = try await jobs(["import", "-", "--json"], input: try await jobs(["export", "--new-ids"]).text)
        #expect(try new.object["outcome"] == "accepted")
        #expect(try await ids("--state", "ready").count == 1)
        #expect(try await jobs(["import", "-"], input: "nonsense").status == 65)
        #expect(try await jobs(["export", "--state", "finished"]).status == 64)
    }
}

/// `errand job edit`.
@Suite struct ConsoleJobEditTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func makeDead() async throws {
        let description = #"{"operation":"work","id":"one","queue":"images","arguments":{"path":"a.jpg"},"priority":7}"#
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: description)
        #expect(output.status == 0, "\(output.error)")
        let desk = try await Desk(server, queues: ["images"])
        try await desk.work(.failed, error: "no such file", queue: "images")
    }

    private func edit(_ more: String..., input: String = "", editor: String = "false") async throws -> Output {
        try await Executable.console.run(
            ["job", "edit", "one"] + more,
            input: Array(input.utf8),
            environment: ["ERRAND_REDIS_URL": server.url, "EDITOR": editor, "VISUAL": ""]
        )
    }

    private func jobs() async throws -> [[String: JSON]] {
        try await Executable.console.run(["jobs", "--json"], on: server).objects
    }

    @Test func pushesWhatTheEditorLeaves() async throws {
        try await makeDead()
        let output = try await edit("--json", editor: "sed -i s/a.jpg/b.jpg/")
        #expect(output.status == 0, "\(output.error)")
        #expect(try output.object["outcome"] == "accepted")
        let id = try #require(try output.object["id"]?.string)
        let all = try await jobs()
        #expect(all.map { $0["id"]?.string } == [id])
        #expect(all.first?["priority"] == 7)
        let shown = try await Executable.console.run(["job", "show", id, "--json", "--show-arguments"], on: server)
        #expect(try shown.object["arguments"] == ["path": "b.jpg"])
    }

    @Test(arguments: [
        ("rm", #"what the editor "rm" left cannot be read: there is no such file; nothing was changed"#),
        ("truncate -s 0", #"the editor "truncate -s 0" left an empty file; nothing was changed"#),
        ("/nowhere/vi", #"the editor "/nowhere/vi" cannot be started (status 127): set $VISUAL or $EDITOR"#),
        ("sh -c 'kill -9 $$' sh", "was killed by signal 9; nothing was changed"),
        ("sh -c 'exit 3' sh", "ended with status 3; nothing was changed"),
        ("sh -c 'rm \"$1\"; mkdir \"$1\"' sh", "cannot be read: it is a directory, not a file; nothing was changed"),
        ("sh -c 'rm \"$1\"; mkfifo \"$1\"' sh", "cannot be read: it is not a regular file; nothing was changed"),
        ("sh -c 'ln -sf /dev/zero \"$1\"' sh", "cannot be read: it is not a regular file; nothing was changed"),
        ("sh -c 'truncate -s 9M \"$1\"' sh", "is larger than 4 MiB; nothing was changed"),
    ])
    func `an editor's failure is reported, and the dead job stays`(editor: String, words: String) async throws {
        try await makeDead()
        let output = try await edit(editor: editor)
        #expect(output.status == 1)
        #expect(output.error.contains(words), "\(output.error)")
        #expect(!output.error.contains("Cocoa") && !output.error.contains("couldn"), "\(output.error)")
        #expect(try await jobs().map { $0["state"] } == ["dead"])
    }

    @Test func `a rejected edit stays in its file`() async throws {
        try await makeDead()
        let output = try await edit(editor: "sed -i 's/\"priority\": *7/\"priority\": 17/'")
        #expect(output.status == 65)
        #expect(output.error.contains("; nothing was changed; your text was kept"), "\(output.error)")
        #expect(try await jobs().map { $0["state"] } == ["dead"])
        let file = try #require(output.error.firstMatch(of: /--description (\S+)/)?.1).description
        defer { try? FileManager.default.removeItem(atPath: (file as NSString).deletingLastPathComponent) }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains("17") })
        let column = try #require(lines[line].range(of: "17")).lowerBound
        let place = "line \(line + 1), column \(lines[line].distance(from: lines[line].startIndex, to: column) + 1)"
        #expect(output.error.contains("\"priority\" at \(place): must be "), "\(output.error)")

        try text.replacingOccurrences(of: "17", with: "8").write(toFile: file, atomically: true, encoding: .utf8)
        let corrected = try await edit("--description", file)
        #expect(corrected.status == 0, "\(corrected.error)")
        #expect(try await jobs().map { $0["priority"] } == [8])
    }

    @Test(arguments: ["true", "sed -i s/a.jpg/b.jpg/"])
    func `a file that is no longer needed is removed`(editor: String) async throws {
        try await makeDead()
        let place = FileManager.default.temporaryDirectory.appending(path: "e\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: place) }
        let output = try await Executable.console.run(
            ["job", "edit", "one"],
            environment: ["ERRAND_REDIS_URL": server.url, "EDITOR": editor, "VISUAL": "", "TMPDIR": place.path]
        )
        #expect(output.status == (editor == "true" ? 1 : 0), "\(output.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    @Test func `a description may come from Windows, and a path that is no file is explained`() async throws {
        try await makeDead()
        let folder = try await edit("--description", server.directory)
        #expect(folder.status == 65)
        #expect(
            folder.error.contains("\(server.directory) cannot be read: it is a directory, not a file"),
            "\(folder.error)"
        )
        let text = "\u{FEFF}{\r\n\"operation\":\"work\",\"queue\":\"images\"}\r\n"
        let output = try await edit("--description", "-", input: text)
        #expect(output.status == 0, "\(output.error)")
    }

    @Test func `a missing directory for temporary files is named`() async throws {
        try await makeDead()
        let output = try await Executable.console.run(
            ["job", "edit", "one"],
            environment: ["ERRAND_REDIS_URL": server.url, "EDITOR": "true", "VISUAL": "", "TMPDIR": "/etc/passwd/tmp"]
        )
        #expect(output.status == 69)
        #expect(
            output.error.contains("cannot make a directory in /etc/passwd/tmp: a part of its path is not a directory"),
            "\(output.error)"
        )
    }

    #if os(Linux)
        @Test func theEditorHasTheTerminal() async throws {
            try await makeDead()
            let editor = server.directory + "/editor"
            let script = "#!/bin/sh\nread answer </dev/tty && sed -i \"s/a.jpg/$answer/\" \"$1\"\n"
            try script.write(toFile: editor, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: editor)
            let edit = try RunningExecutable(
                .console,
                ["job", "edit", "one"],
                environment: ["ERRAND_REDIS_URL": server.url, "EDITOR": editor, "VISUAL": ""],
                onTerminal: true
            )
            edit.write(Array("b.jpg\n".utf8))
            let output = await edit.end()
            #expect(output.status == 0, "\(output.text)")
            #expect(try await jobs().count == 1)
            #expect(try await jobs().first?["state"] == "ready")
        }
    #endif

    @Test func takesADescriptionFromStandardInput() async throws {
        try await makeDead()
        let output = try await edit("--description", "-", input: #"{"operation":"work","queue":"other"}"#)
        #expect(output.status == 0, "\(output.error)")
        #expect(try await jobs().map { $0["queue"] } == ["other"])
    }

    @Test func keepsTheDeadJobIfAnythingIsWrong() async throws {
        try await makeDead()
        #expect(try await edit("--description", "-", input: "{}").status == 65)
        #expect(try await edit(editor: "false").status == 1)
        #expect(try await edit(editor: "true").status == 1)
        #expect(try await edit(editor: "").status == 64)
        #expect(try await edit("--queue", "nowhere", "--description", "-", input: "{}").status == 1)
        #expect(try await jobs().map { $0["id"] } == ["one"])
        #expect(try await jobs().first?["state"] == "dead")
    }
}
