import Foundation
import TestSupport
import Testing

/// `errand flow set|list|delete|show`, and groups of the producer and of catalogues.
@Suite struct ConsoleFlowTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func flow(_ arguments: String...) async throws -> Output {
        try await Executable.console.run(["flow"] + arguments, on: server)
    }

    private func push(_ arguments: String...) async throws -> Output {
        try await Executable.producer.run(["push", "work", "--queue", "mail"] + arguments, on: server)
    }

    @Test func `rules are set, listed and deleted`() async throws {
        let set = try await flow("set", "mail", "tenant-*", "--at-once", "4", "--weight", "2")
        #expect(set.text == "groups tenant-* of mail: 4 at once, weight 2\n")
        _ = try await flow("set", "mail", "tenant-7", "--at-once", "20")
        let options = ["--rate", "100/1s", "--burst", "20", "--ordered", "--on-dead", "skip"]
        let api = try await Executable.console.run(["flow", "set", "mail", "api"] + options, on: server)
        #expect(api.text == "groups api of mail: 100/1s, burst 20, ordered, dead jobs are skipped\n")
        let whole = try await flow("set", "mail", "", "--at-once", "50", "--fair-by", "time")
        #expect(whole.text == "mail: 50 at once, fair by run time\n")
        let rest = #""weight":null,"max_waiting":null,"fair_by":"cost","ordered":false,"on_dead":null}"#
        let expected = [
            #"{"pattern":"","at_once":50,"rate":null,"rate_ms":null,"burst":null,"weight":null,"max_waiting":null,"fair_by":"time","#
                + #""ordered":false,"on_dead":null}"#,
            #"{"pattern":"api","at_once":null,"rate":100,"rate_ms":1000,"burst":20,"weight":null,"max_waiting":null,"fair_by":"cost","#
                + #""ordered":true,"on_dead":"skip"}"#,
            #"{"pattern":"tenant-*","at_once":4,"rate":null,"rate_ms":null,"burst":null,"weight":2,"max_waiting":null,"fair_by":"cost","#
                + #""ordered":false,"on_dead":null}"#,
            #"{"pattern":"tenant-7","at_once":20,"rate":null,"rate_ms":null,"burst":null,"# + rest,
        ]
        #expect(try await flow("list", "mail", "--json").text == "[" + expected.joined(separator: ",") + "]\n")
        #expect(try await flow("list", "mail").text.contains("(whole queue)"))
        #expect(try await flow("delete", "mail", "").text == "mail has no rule for the whole queue any more\n")
        #expect(try await flow("list", "mail").text.contains("tenant-7"))
        #expect(try await flow("delete", "mail", "tenant-7").text == "mail has no rule for tenant-7 any more\n")
        let again = try await flow("delete", "mail", "tenant-7")
        #expect(again.status == 1 && again.error.contains("errand flow list mail"))
    }

    @Test func `what is no rule is refused before anything is sent`() async throws {
        for (arguments, words) in [
            (["set", "mail", "a"], "say what the rule is"),
            (["set", "mail", "a", "--atonce", "3"], "Unknown option '--atonce'. Did you mean '--at-once'?"),
            (["set", "mail", "a/b/c", "--at-once", "1"], "one or two parts"),
            (["set", "mail", "a", "--at-once", "0"], "1 to 1000000"),
            (["set", "mail", "a", "--weight", "5000"], "1 to 1000"),
            (["set", "mail", "a", "--rate", "0/1s"], "1 to 1000000 starts"),
            (["set", "mail", "a", "--rate", "often"], "often"),
            (["set", "mail", "a", "--burst", "2"], "--burst is for --rate"),
            (["set", "mail", "a", "--on-dead", "skip"], "--on-dead is for --ordered"),
            (["set", "mail", "a", "--ordered", "--at-once", "2"], "one at a time"),
            (["set", "mail", "a", "--fair-by", "time"], "--fair-by is for the whole queue"),
            (["set", "mail", "", "--weight", "2"], "a rule for the whole queue cannot have a weight"),
            (["show", "mail", "a b"], "is not a group"),
        ] {
            let output = try await Executable.console.run(["flow"] + arguments, on: server)
            #expect(output.status == 64, "\(arguments)")
            #expect(output.error.contains(words), "\(arguments): \(output.error)")
        }
        #expect(try server.run("DBSIZE") == "0")
        _ = try await flow("set", "mail", "a*b", "--at-once", "1")
        let tied = try await flow("set", "mail", "a*c", "--at-once", "1")
        #expect(tied.status != 0 && tied.error.contains("unclear which rule applies"), "\(tied.error)")
        for command in ["list", "show"] { #expect(try await flow(command, "typo").error.contains("does not exist")) }
    }

    @Test func `jobs of a full group are refused line by line, and the others are pushed`() async throws {
        _ = try await flow("set", "mail", "tenant-*", "--max-waiting", "2")
        let line = { (group: String) in #"{"operation":"work","queue":"mail","group":"\#(group)"}"# }
        let input = ["tenant-7/a", "tenant-7/b", "tenant-7/c", "tenant-8", "other", "tenant-7"].map(line)
        let output = try await Executable.producer.run(
            ["push", "--from", "-", "--json"],
            on: server,
            input: input.joined(separator: "\n")
        )
        #expect(output.status == 69, "\(output.error)")
        #expect(output.text.split(separator: "\n").count == 4, "\(output.text)")
        #expect(output.error.contains("lines 3 and 6 not pushed to queue mail: group full"), "\(output.error)")
        #expect(output.error.contains("group tenant-7 of queue"), "\(output.error)")
        #expect(output.error.contains("4 accepted, 2 not pushed"), "\(output.error)")
        let one = try await push("--group", "tenant-7/z")
        #expect(one.status == 69 && one.error.contains("group full"), "\(one.error)")
    }

    @Test func `groups are shown, with their limits`() async throws {
        _ = try await flow("set", "mail", "tenant-*", "--at-once", "4")
        for _ in 0..<2 { #expect(try await push("--group", "tenant-7/user-3", "--cost", "5").status == 0) }
        _ = try await push("--group", "b")
        #expect(
            try await flow("show", "mail", "tenant-7", "--json").text
                == #"{"group":"tenant-7","waiting":2,"held":0,"limit":4,"resting_until_ms":null,"waits_for":null}"#
                + "\n"
        )
        let all = try await flow("show", "mail", "--json").text
        #expect(all.hasPrefix(#"[{"group":"tenant-7/user-3","waiting":2,"held":0,"limit":null"#), "\(all)")
        #expect(try await flow("show", "mail").text.contains("tenant-7/user-3"))
        let refused = try await push("--group", "two words")
        #expect(refused.status == 65 && refused.error.contains("--group must be"), "\(refused.error)")
    }

    @Test func `what holds a group back is shown, also a rule of the whole queue`() async throws {
        let desk = try await Desk(server, queues: ["mail"])
        _ = try await flow("set", "mail", "tenant-*", "--at-once", "1")
        for group in ["tenant-7", "tenant-8"] { _ = try await push("--group", group) }
        #expect(try await desk.claim(2, from: "mail").count == 2)
        for group in ["tenant-8", "tenant-8/user-1"] { _ = try await push("--group", group) }
        func shown() async throws -> [[String]] {
            let lines = try await flow("show", "mail").lines.dropFirst()
            return lines.map { $0.split(separator: #/ {2,}/#).map(String.init) }.sorted { $0[0] < $1[0] }
        }
        #expect(
            try await shown().map { [$0[0], $0[4]] } == [
                ["tenant-7", "-"], ["tenant-8", "a free slot"], ["tenant-8/user-1", "a free slot of tenant-8"],
            ]
        )
        let own = try await flow("show", "mail", "--json").text
        let idle = #""group":"tenant-7","waiting":0,"held":1,"limit":1,"resting_until_ms":null,"waits_for":null"#
        #expect(own.contains(idle), "\(own)")
        #expect(own.contains(#""waits_for":"group_full""#), "\(own)")
        _ = try await flow("set", "mail", "", "--at-once", "2")
        #expect(try await shown().map { $0[4] } == ["-", "a free slot of the queue", "a free slot of the queue"])
        let whole = try await flow("show", "mail", "--json").text
        #expect(whole.contains(#""waits_for":"queue_full""#) && !whole.contains("group_full"), "\(whole)")
    }

    @Test func `a catalogue makes the group from the arguments`() async throws {
        let catalogue = server.directory + "/catalogue.yaml"
        let text = """
            operations:
              work: {run: ["true"], group: "{tenant}/{user}", cost: 2, queue: mail}
            """
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
        let pushed = try await Executable.producer.run(
            ["push", "work", #"{"tenant":"t-7","user":3}"#, "--catalogue", catalogue],
            on: server
        )
        #expect(pushed.status == 0, "\(pushed.error)")
        #expect(try await flow("show", "mail", "--json").text.contains(#""group":"t-7/3","waiting":1"#))
        let refused = try await Executable.producer.run(
            ["push", "work", #"{"tenant":"two words","user":3}"#, "--catalogue", catalogue],
            on: server
        )
        #expect(refused.status != 0 && refused.error.contains("group"), "\(refused.error)")
    }
}
