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
        #expect(
            try await flow("list", "mail", "--json").text
                == #"[{"pattern":"tenant-*","at_once":4,"weight":2},{"pattern":"tenant-7","at_once":20,"weight":null}]"#
                + "\n"
        )
        #expect(try await flow("list", "mail").text.contains("tenant-7"))
        #expect(try await flow("delete", "mail", "tenant-7").text == "mail has no rule for tenant-7 any more\n")
        let again = try await flow("delete", "mail", "tenant-7")
        #expect(again.status == 1 && again.error.contains("errand flow list mail"))
    }

    @Test func `what is no rule is refused before anything is sent`() async throws {
        for (arguments, words) in [
            (["set", "mail", "a"], "say what the rule is"),
            (["set", "mail", "a/b/c", "--at-once", "1"], "one or two parts"),
            (["set", "mail", "a", "--at-once", "0"], "1 to 1000000"),
            (["set", "mail", "a", "--weight", "5000"], "1 to 1000"),
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

    @Test func `groups are shown, with their limits`() async throws {
        _ = try await flow("set", "mail", "tenant-*", "--at-once", "4")
        for _ in 0..<2 { #expect(try await push("--group", "tenant-7/user-3", "--cost", "5").status == 0) }
        _ = try await push("--group", "b")
        #expect(
            try await flow("show", "mail", "tenant-7", "--json").text
                == #"{"group":"tenant-7","waiting":2,"held":0,"limit":4,"resting_until_ms":null}"# + "\n"
        )
        let all = try await flow("show", "mail", "--json").text
        #expect(all.hasPrefix(#"[{"group":"tenant-7/user-3","waiting":2,"held":0,"limit":null"#), "\(all)")
        #expect(try await flow("show", "mail").text.contains("tenant-7/user-3"))
        let refused = try await push("--group", "two words")
        #expect(refused.status == 65 && refused.error.contains("\"group\""), "\(refused.error)")
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
