import Errand
import Foundation
import Testing

@testable import ErrandCatalogue

struct CatalogueTests {
    private static let yaml = """
        operations:
          checksum:
            run: [sha256sum, --, "{path}", 1.0, true, 0x1F]
            name: "checksum {path}"
            unique: drop
            timeout: 30s
            retries: 3
            backoff: {base: 5s, longest: 1h, jitter: 0.2}
            queue: files
            priority: 9
          notify:
            http: {method: PUT, url: "http://user:secret@127.0.0.1:8080/hook", headers: {X-Key: "1 2"}}
            timeout: 5s
        """

    @Test func readsEveryKey() throws {
        let operation = try #require(try Catalogue(yaml: Self.yaml, source: "test").operations["checksum"])
        guard case .run(let templates) = operation.kind else { throw TestError("not a run operation") }
        #expect(templates.map(\.source) == ["sha256sum", "--", "{path}", "1.0", "true", "0x1F"])
        #expect(operation.name == "checksum")
        #expect(operation.nameTemplate?.source == "checksum {path}")
        #expect(operation.values.uniqueness == .drop)
        #expect(operation.values.timeout == .seconds(30))
        #expect(operation.values.retries == 3)
        #expect(operation.values.backoff == RetryDelays(base: .seconds(5), longest: .seconds(3600)))
        #expect(operation.values.queue == "files")
        #expect(operation.values.priority == 9)
    }

    @Test func readsAWebRequest() throws {
        let catalogue = try Catalogue(yaml: Self.yaml, source: "test")
        let operation = try #require(catalogue.operations["notify"])
        guard case .http(let request) = operation.kind else { throw TestError("not an http operation") }
        #expect(request.method == "PUT")
        #expect(try request.address.url(.emptyObject).absoluteString == "http://user:secret@127.0.0.1:8080/hook")
        #expect(request.headers == ["X-Key": "1 2"])
        #expect(operation.values.retries == nil)
        #expect(operation.values.uniqueness == nil)
        #expect(catalogue.queues == ["files"])
    }

    @Test func readsJSON() throws {
        let json = "{\n\t\"operations\": {\"a\": {\"run\": [\"echo\", \"\\u00e9\\/{x}\"], \"retries\": 0}}}\n"
        let operation = try #require(try Catalogue(yaml: json, source: "test").operations["a"])
        guard case .run(let templates) = operation.kind else { throw TestError("not a run operation") }
        #expect(templates.map(\.source) == ["echo", "é/{x}"])
        #expect(operation.values.retries == 0)
    }

    @Test(arguments: [
        ("{}", RetryDelays()), ("{base: 1ms}", RetryDelays(base: .milliseconds(1))),
        ("{longest: 365d, jitter: 1}", RetryDelays(longest: .seconds(365 * 86_400), jitter: 1)),
        ("{jitter: 0}", RetryDelays(jitter: 0)),
        (
            "{base: 5s, longest: 5s}",
            RetryDelays(base: .seconds(5), longest: .seconds(5))
        ),
    ])
    func readsABackoff(text: String, backoff: RetryDelays) throws {
        let yaml = """
            operations: {a: {run: [x], backoff: \(text)}}
            schedules: {s: {every: 1h, operation: a, backoff: \(text)}}
            """
        let catalogue = try Catalogue(yaml: yaml, source: "test")
        #expect(catalogue.operations["a"]?.values.backoff == backoff)
        #expect(catalogue.schedules.first?.values.backoff == backoff)
    }

    @Test func readsAFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.yaml.utf8).write(to: file)
        #expect(try Catalogue(contentsOf: file.path).operations.count == 2)
    }

    @Test func `a file of Windows is read as any other`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let json = #"{"operations": {"checksum": {"run": ["true"]}}}"#
        for text in [Self.yaml, "operations:\n  checksum:\n    run: [\"true\"]\n", json] {
            let lines = text.replacingOccurrences(of: "\n", with: "\r\n")
            try Data([0xEF, 0xBB, 0xBF] + Array(lines.utf8)).write(to: file)
            #expect(try Catalogue(contentsOf: file.path).operations["checksum"] != nil)
        }
    }

    @Test func `a file in UTF-16 is refused with the way to convert it`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian] {
            try #require(Self.yaml.data(using: encoding)).write(to: file)
            let error = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: file.path) }
            #expect(error?.reason.contains("UTF-16; save it as UTF-8") == true, "\(error?.description ?? "")")
        }
    }

    @Test func `a path that is no readable file is explained in plain words`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (broken, circle) = (folder.path + "/broken", folder.path + "/circle")
        try FileManager.default.createSymbolicLink(atPath: broken, withDestinationPath: "/nowhere/jobs.yaml")
        try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: circle)
        for (path, words) in [
            (folder.path, "it is a directory, not a file"),
            (broken, "it is a symbolic link to a file that is not there"),
            (circle, "its symbolic links lead in a circle"),
            ("/etc/passwd/jobs.yaml", "a part of its path is not a directory"),
        ] {
            let error = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: path) }
            #expect(error?.description == "\(path): cannot be read: \(words)")
        }
    }

    @Test func refusesWhatIsTooLargeForACatalogue() throws {
        let error = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: "/dev/zero") }
        #expect(error?.reason == "is larger than 1 MiB, the most that a catalogue may have")
    }

    @Test(arguments: ["  ? *a9\n  : y\n", "  *a9 : y\n", "  [*a9]: y\n", "  {a: *a9} : y\n"])
    func aKeyOfAliasesOfAliasesIsRefusedAtOnce(key: String) {
        var lines = ["operations:", "  a: {run: [x]}", "  z0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ",")
            lines.append("  z\(level): &a\(level) [\(aliases)]")
        }
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(yaml: lines.joined(separator: "\n") + "\n" + key, source: "x")
        }
        #expect(error?.line == 13)
        #expect(error?.reason == "a key is an alias (*name), a list or a mapping; write the key as plain text")
    }

    /// Without its aliases, the text must not have another structure, in which this key is part of a quoted text.
    @Test func aHiddenKeyOfAliasesOfAliasesIsRefusedAtOnce() {
        var lines = ["operations:", "  a: {run: [x]}", "  z:", "  - &a0 [x]"]
        lines += (1...40).map { "  - &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
        lines += ["  - k *a0:\"", "  - ? *a40", "    : v", "  - \""]
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(yaml: lines.joined(separator: "\n"), source: "x")
        }
        #expect(error?.line == 48)
    }

    /// Asterisks that are no aliases, and colons and question marks that make no keys.
    @Test(arguments: [
        "name: \"{tenant}:{path}\"", "name: '{tenant}: {path}'", "name: a ? b", "name: \"* ? *t: [*t]: x\"",
        "name: x # {*t}: *t : ? *t", "queue: q", "name: \"{a}\" # \"[*t]: ", "name: x *t:8080",
        "name: \"{dc:title} of {the customer's}\"",
    ])
    func `texts that look like aliases and keys are fine`(setting: String) throws {
        let yaml = """
            operations:
              a:
                run: [curl, "http://{host}:8080/", "https://example.com/users/{id}?q={text}&t=*t", "*"]
                timeout: &t 10s
                \(setting)
              b: {run: [&u text, "{a}:{b}"], timeout: *t}
            schedules:
              nightly: {cron: "30 2 * * *", operation: b, arguments: {a: "*/5 * * * *", b: "&t *t: x"}, name: n}
            """
        let catalogue = try Catalogue(yaml: yaml, source: "x")
        #expect(catalogue.operations["b"]?.values.timeout == .seconds(10))
        #expect(catalogue.schedules.first?.cron == "30 2 * * *")
    }

    @Test(arguments: [
        "{*t: 1}", "{*t : 1}", "{*t:1}", "[*t:1]", "[*t :1]", "{*t}", "{? *t : 1}", "{?*t : 1}", "{[*t]: 1}",
    ])
    func `a key that is an alias or contains one is refused with its line`(value: String) {
        let yaml = "operations:\n  a: {run: [x], timeout: &t 10s}\n  b: {run: [x], name: \(value)}\n"
        let error = #expect(throws: CatalogueError.self) { try Catalogue(yaml: yaml, source: "x") }
        #expect(error?.description.hasPrefix("x:3: a key is an alias (*name)") == true, "\(error?.description ?? "")")
    }

    @Test func aliasesOfValuesAreFine() throws {
        let yaml = "operations:\n  a: &a {run: [x, \"{y}\"], timeout: &t 10s}\n  b: *a\n  c: {run: [y], timeout: *t}\n"
        #expect(try Catalogue(yaml: yaml, source: "x").operations["c"]?.values.timeout == .seconds(10))
    }

    @Test func errorsAreOneDecentLine() {
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(yaml: "operations:\n  \"a\\u001b[31m\\r\\u202e\\n\": {run: [x]}\n", source: "x")
        }
        #expect(error?.description.contains(#"a\u{1b}[31m\u{d}\u{202e}\u{a}"#) == true, "\(error?.description ?? "")")
    }

    @Test func namesAFileThatIsMissingOrNoText() throws {
        let missing = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: "/nowhere/jobs.yaml") }
        #expect(missing?.description == "/nowhere/jobs.yaml: cannot be read: there is no such file")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("catalogue-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([0xFF, 0xFE, 0x00]).write(to: file)
        let binary = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: file.path) }
        #expect(binary?.reason == "is not valid UTF-8; save it as UTF-8 text")
    }
}

struct CatalogueErrorTests {
    /// The body of one operation, and what the error must say.
    @Test(arguments: [
        ("{run: [a], retrys: 1}", "key \"retrys\": is not a known key; did you mean \"retries\"?"),
        (
            "{run: [a], colour: 1}",
            "Known keys: run, http, serve, name, group, retry_after, instances, restart, checkpoints, unique, unique_until, window, at_most, timeout, expires, retries, backoff, queue, priority, cost"
        ),
        ("{run: []}", "key \"run\": names no command"),
        ("{run: [\"\"]}", "names no command"),
        ("{run: ls -l}", "is one text; write a list"),
        ("{run: }", "is empty; a list belongs here"),
        ("{run: [echo, {path}]}", "quote what begins with a brace: \"{path}\""),
        ("{run: [echo, ~]}", "is empty; text belongs here"),
        ("{run: [echo, \"{path\"]}", "has an opening brace without a closing one"),
        ("{run: [echo, \"path}\"]}", "has a closing brace without an opening one"),
        (#"{run: [curl, -d, '{"a":{"b":1}}']}"#, "has a brace that begins no {argument}; write {{ and }}"),
        (#"{run: [curl, -d, '{"a":1}']}"#, "has a brace that begins no {argument}"),
        ("{run: [echo, \"{a: b}\"]}", "a text has a brace that begins no {argument}"),
        ("{run: [a], unique: drop, unique_until: end}", "allowed: finished, started"),
        ("{run: [a], checkpoints: true}", "key \"checkpoints\": works only with \"serve\""),
        ("{run: [echo, \"{}\"]}", "has braces without an argument's name"),
        ("{run: [echo, \"a\\0b\"]}", "holds a NUL character"),
        ("{run: [a], name: [b]}", "key \"name\": is a list; text belongs here"),
        ("{}", "says neither \"run\" nor \"http\""),
        ("{run: [a], http: {url: \"http://a\"}}", "says \"run\" and \"http\""),
        ("[a]", "is a list; write keys and values; known keys: run, http, serve, name"),
        ("{run: [a], retries: [1]}", "key \"retries\": is a list; a whole number from 0 to 1000 belongs here"),
        ("{run: [a], timeout: {a: 1}}", "is a mapping; a duration, such as 90s, 5m or 2h, belongs here"),
        ("{run: [a], unique: }", "is empty; a uniqueness policy (one of ignore, drop, "),
        ("{serve: [a], checkpoints: []}", "is a list; true or false belongs here"),
        ("{serve: [a], checkpoints: yes}", "is \"yes\"; true or false belongs here"),
        ("{run: [a], retries: many}", "\"many\" is not a whole number from 0 to 1000"),
        ("{run: [a], retries: 1001}", "from 0 to 1000"),
        ("{run: [a], retries: -1}", "from 0 to 1000"),
        ("{run: [a], backoff: 5s}", "key \"backoff\": is \"5s\"; write keys and values; known keys: base"),
        ("{run: [a], backoff: }", "key \"backoff\": is empty; write keys and values"),
        ("{run: [a], backoff: {bass: 5s}}", "key \"backoff.bass\": is not a known key; did you mean \"base\"?"),
        ("{run: [a], backoff: {base_ms: 5}}", "Known keys: base, longest, jitter"),
        ("{run: [a], backoff: {base: 5}}", "key \"backoff.base\": \"5\" is not a duration"),
        ("{run: [a], backoff: {base: 0s}}", "a duration is at least 1ms"),
        ("{run: [a], backoff: {base: -5s}}", "is not a duration"),
        ("{run: [a], backoff: {longest: 366d}}", "key \"backoff.longest\": is 366d; a wait is at most 365d"),
        ("{run: [a], backoff: {longest: 99999999999999999999d}}", "is too long"),
        (
            "{run: [a], backoff: {base: 10s, longest: 5s}}",
            "key \"backoff.longest\": is 5s, which is shorter than the base of 10s"
        ),
        ("{run: [a], backoff: {jitter: 1.5}}", "key \"backoff.jitter\": \"1.5\" is not a number from 0 to 1"),
        ("{run: [a], backoff: {jitter: -0.1}}", "is not a number from 0 to 1"),
        ("{run: [a], backoff: {jitter: nan}}", "is not a number from 0 to 1"),
        ("{run: [a], backoff: {jitter: 20%}}", "is not a number from 0 to 1"),
        ("{run: [a], backoff: {jitter: }}", "key \"backoff.jitter\": is empty"),
        ("{run: [a], priority: 10}", "key \"priority\": \"10\" is not a whole number from 0 to 9"),
        ("{run: [a], unique: maybe}", "allowed: ignore, drop, replace"),
        ("{run: [a], unique: debounce}", "key \"unique\": \"debounce\" needs a window; write how long it is, such as"),
        ("{run: [a], unique: throttle, at_most: 5s}", "key \"unique\": \"throttle\" needs a window"),
        ("{run: [a], timeout: 10}", "key \"timeout\": \"10\" is not a duration"),
        ("{run: [a], timeout: 0s}", "a duration is at least 1ms"),
        ("{run: [a], timeout: 400d}", "key \"timeout\": is 400d; a timeout is at most 365d"),
        ("{run: [a], timeout: 31536000001ms}", "a timeout is at most 365d"),
        ("{run: [a], name: \"\"}", "key \"name\": has 0 bytes besides arguments; a job's name has 1 to 1024 bytes"),
        ("{run: [a], name: \"{x}\(String(repeating: "n", count: 1025))\"}", "key \"name\": has 1025 bytes besides"),
        ("{run: [a], queue: a b}", "\"a b\" is not a queue's name: 1 to 128 of the characters"),
        ("{http: {method: POST}}", "key \"http\": has no key \"url\""),
        ("{http: {url: \"ftp://user:secret@a\"}}", "key \"http.url\": is not a web address"),
        ("{http: {url: \"http://\"}}", "is not a web address"),
        ("{http: {url: \"http://a:0/\"}}", "has a port that does not exist"),
        ("{http: {url: \"http://user:secret@a/{x\"}}", "key \"http.url\": has an opening brace without a closing one"),
        ("{http: {url: \"http://a\", method: post}}", "allowed: POST, PUT, PATCH, DELETE, GET"),
        ("{http: {url: \"http://a\", headers: {\"a b\": c}}}", "\"a b\" is not a header field's name"),
        ("{http: {url: \"http://a\", headers: {a: \"b\\nc\"}}}", "holds a line break"),
        ("{http: {url: \"http://a\", body: x}}", "key \"http.body\": is not a known key"),
    ])
    func saysWhatIsWrong(operation: String, message: String) throws {
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(yaml: "# first line\noperations:\n  job: \(operation)\n", source: "jobs.yaml")
        }
        let text = try #require(error).description
        #expect(text.hasPrefix("jobs.yaml:3: operation \"job\""))
        #expect(text.contains(message), "\(text)")
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
        "Upgrade", "Expect", "Host", "content-length", "TRANSFER-ENCODING", "hOsT",
    ]) func `header fields that frame a request are refused`(name: String) {
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(
                yaml: "operations: {a: {http: {url: \"http://a\", headers: {\(name): \"1\"}}}}",
                source: "c.yaml"
            )
        }
        #expect(error?.key == "http.headers.\(name)")
        #expect(error?.reason.contains("is set by the client") == true)
    }

    @Test(arguments: [
        "Errand-Job-Id", "Errand-Operation", "Errand-Name", "Errand-Queue", "Errand-Attempt", "Errand-Token",
        "Errand-Deadline-Ms", "errand-token", "ERRAND-X",
    ]) func `header fields that Errand sets are refused`(name: String) {
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(
                yaml: "operations: {a: {http: {url: \"http://a\", headers: {\(name): \"1\"}}}}",
                source: "c.yaml"
            )
        }
        #expect(error?.key == "http.headers.\(name)")
        #expect(error?.reason.contains("are set by Errand; leave it out") == true)
    }

    @Test func `a header field in two spellings is refused`() {
        #expect(throws: CatalogueError.self) {
            try Catalogue(
                yaml: "operations: {a: {http: {url: \"http://a\", headers: {X-A: \"1\", x-a: \"2\"}}}}",
                source: "c.yaml"
            )
        }
    }

    @Test(arguments: [
        ("", "is empty; it needs a key \"operations\""),
        ("# nothing\n", "is empty"),
        ("operation: {}", "is not a known key; did you mean \"operations\"?"),
        ("{}", "has no key \"operations\""),
        ("operations: [", "is neither YAML nor JSON"),
        ("operations:\n  a: {run: */5}", "jobs.yaml:2: is neither YAML nor JSON: a text that begins with \"*\" must"),
        ("operations:\n\ta: b", "is indented with a tab (use spaces)"),
        ("operations:\n  a: @b", "or a text begins with @, % or a backquote (quote it)"),
        ("operations:\n  a: b: c", "\": \" is inside a text (quote the text), or the indentation is wrong"),
        ("operations:\n  a: \"b\n  c: d\n", "jobs.yaml:2: is neither YAML nor JSON: the quote that begins here is"),
        ("operations: {a: {run: [*b]}}", "it has no anchor (&name) above it"),
        ("operations:\n  a: \"b\u{7}\"\n", "jobs.yaml:2: has a control character (U+0007); remove it"),
        ("operations: {a: {run: [a]}}\n---\nb: c", "jobs.yaml:2: holds a second document"),
        ("operations: {a: {run: [a]}, a: {run: [b]}}", "has a key twice: a"),
        ("operations: {a: {run: [a], run: [b]}}", "has a key twice: run"),
        ("operations: {\"a b\": {run: [a]}}", "operation \"a b\": the operation's name is not allowed"),
        ("operations: {[a]: {run: [a]}}", "has a key that is not plain text"),
        ("operations: text", "key \"operations\": is \"text\"; a mapping of keys to values belongs here"),
    ])
    func saysWhatIsWrongOutside(yaml: String, message: String) throws {
        let error = #expect(throws: CatalogueError.self) { try Catalogue(yaml: yaml, source: "jobs.yaml") }
        let text = try #require(error).description
        #expect(text.hasPrefix("jobs.yaml"))
        #expect(text.contains(message), "\(text)")
    }

    @Test(
        "a schedule's limits are those of its jobs",
        arguments: ["timeout: 400d", "retries: 1001", "priority: 10", "queue: a b"]
    )
    func saysWhatIsWrongInASchedule(setting: String) throws {
        let yaml = "operations: {job: {run: [a]}}\nschedules:\n  s: {every: 1m, operation: job, \(setting)}\n"
        let error = #expect(throws: CatalogueError.self) { try Catalogue(yaml: yaml, source: "jobs.yaml") }
        let key = setting.prefix { $0 != ":" }
        #expect(
            error?.description.hasPrefix("jobs.yaml:3: schedule \"s\", key \"\(key)\"") == true,
            "\(error?.description ?? "")"
        )
    }

    @Test("the longest timeout and name are taken")
    func takesWhatIsJustAllowed() throws {
        let name = String(repeating: "n", count: 1024)
        let yaml = "operations: {job: {run: [a], timeout: 365d, name: \"\(name)\"}}"
        let operation = try Catalogue(yaml: yaml, source: "jobs.yaml").operations["job"]
        #expect(operation?.values.timeout == .seconds(365 * 86_400))
        #expect(operation?.nameTemplate?.source == name)
    }

    @Test(arguments: [("a", true), (String(repeating: "a", count: 128), true), ("A-z_0.9", true)])
    func allowsNames(name: String, allowed: Bool) {
        #expect(QueueName.isValid(name) == allowed)
    }

    @Test(arguments: ["", String(repeating: "a", count: 129), "a b", "é", "a/b", "a{b}", "a\n"])
    func refusesNames(name: String) {
        #expect(!QueueName.isValid(name))
    }
}
