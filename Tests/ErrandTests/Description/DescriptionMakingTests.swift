import Errand
import Testing

@Suite struct DescriptionMakingTests {
    @Test func `what is left out has its default and is not written`() throws {
        let description = try OperationDescription("thumbnail")
        #expect(description.queue == "default")
        #expect(description.uniquenessPolicy == .ignore)
        #expect(description.priority == 5)
        #expect(description.timeout == nil)
        #expect(description.uniqueName == nil)
        #expect(text(description) == #"{"v":1,"operation":"thumbnail","arguments":{}}"#)
    }

    @Test func `keys are written in their order`() throws {
        let description = try OperationDescription(
            "thumbnail",
            arguments: ["path": "a.jpg", "sizes": [64, 2.5, true, .null]],
            queue: "images",
            name: "thumbnail \"a\".jpg",
            unique: .drop,
            timeout: .seconds(10),
            notBefore: 1_795_215_724_000,
            retries: 3,
            backoff: RetryDelays(base: .seconds(5), jitter: 0.25),
            priority: 9,
            id: "a",
            tags: ["customer 17", "\"x\""],
            meta: ["z": "1", "a": "\n"]
        )
        let expected: String =
            #"{"v":1,"operation":"thumbnail","arguments":{"path":"a.jpg","sizes":[64,2.5,true,null]},"#
            + #""queue":"images","name":"thumbnail \"a\".jpg","unique":"drop","timeout_ms":10000,"#
            + #""not_before_ms":1795215724000,"retries":3,"backoff":{"base_ms":5000,"longest_ms":3600000,"jitter":0.25},"#
            + #""priority":9,"id":"a","tags":["customer 17","\"x\""],"meta":{"a":"\n","z":"1"}}"#
        #expect(text(description) == expected)
        #expect(description.meta == ["z": "1", "a": "\n"])
    }

    @Test func `arguments are encoded from a value, keys sorted`() throws {
        struct Thumbnail: Codable, Equatable {
            var path = "a/b.jpg"
            var height = 64
        }
        let description = try OperationDescription("thumbnail", encoding: Thumbnail())
        #expect(description.arguments.description == #"{"height":64,"path":"a/b.jpg"}"#)
        #expect(try description.arguments.decode(Thumbnail.self) == Thumbnail())
    }

    @Test func `what cannot be written as JSON is an error`() {
        let error = #expect(throws: DescriptionError.self) { try OperationDescription("a", encoding: [Double.nan]) }
        #expect(error?.code == .notEncodable)
        #expect(error?.field == "arguments")
    }

    @Test func `an invalid value is named`() {
        let cases: [(String, () throws -> OperationDescription)] = [
            ("operation", { try OperationDescription("a b") }),
            ("operation", { try OperationDescription(String(repeating: "a", count: 129)) }),
            ("queue", { try OperationDescription("a", queue: "{q}") }),
            ("name", { try OperationDescription("a", name: "") }),
            ("name", { try OperationDescription("a", name: String(repeating: "é", count: 513)) }),
            ("timeout_ms", { try OperationDescription("a", timeout: .zero) }),
            ("timeout_ms", { try OperationDescription("a", timeout: .seconds(-1)) }),
            ("timeout_ms", { try OperationDescription("a", timeout: .seconds(31_536_001)) }),
            ("timeout_ms", { try OperationDescription("a", timeout: .seconds(Int64.max)) }),
            ("timeout_ms", { try OperationDescription("a", timeout: .seconds(31_536_000) + .nanoseconds(1)) }),
            ("not_before_ms", { try OperationDescription("a", notBefore: -1) }),
            ("not_before_ms", { try OperationDescription("a", notBefore: .max) }),
            ("retries", { try OperationDescription("a", retries: 1001) }),
            ("retries", { try OperationDescription("a", retries: .min) }),
            ("backoff.base_ms", { try OperationDescription("a", backoff: RetryDelays(base: .zero)) }),
            ("backoff.base_ms", { try OperationDescription("a", backoff: RetryDelays(base: .seconds(Int64.max))) }),
            (
                "backoff.longest_ms",
                { try OperationDescription("a", backoff: RetryDelays(longest: .seconds(31_536_001))) }
            ),
            (
                "backoff.longest_ms",
                { try OperationDescription("a", backoff: RetryDelays(base: .seconds(2), longest: .seconds(1))) }
            ),
            ("backoff.jitter", { try OperationDescription("a", backoff: RetryDelays(jitter: 1.01)) }),
            ("backoff.jitter", { try OperationDescription("a", backoff: RetryDelays(jitter: .nan)) }),
            ("priority", { try OperationDescription("a", priority: 10) }),
            ("id", { try OperationDescription("a", id: "a:b") }),
        ]
        for (field, make) in cases {
            let error = #expect(throws: DescriptionError.self) { try make() }
            #expect(error?.code == .invalidValue)
            #expect(error?.field == field)
            #expect(error?.description.contains("\"\(field)\": must be ") == true)
        }
    }

    @Test func `timeouts are rounded up to milliseconds`() throws {
        #expect(try OperationDescription("a", timeout: .nanoseconds(1)).timeout == .milliseconds(1))
        #expect(try OperationDescription("a", timeout: .microseconds(1500)).timeout == .milliseconds(2))
        #expect(try OperationDescription("a", timeout: .seconds(31_536_000)).timeout == .seconds(31_536_000))
    }

    @Test func `a backoff is read as it was said, and what it leaves out is as in the defaults`() throws {
        func backoff(_ text: String) throws -> RetryDelays? {
            try OperationDescription(json: #"{"operation":"a","backoff":\#(text)}"#).backoff
        }
        #expect(
            try backoff(#"{"base_ms":100,"longest_ms":300,"jitter":0}"#)
                == RetryDelays(base: .milliseconds(100), longest: .milliseconds(300), jitter: 0)
        )
        #expect(try backoff(#"{"jitter":5e-1}"#) == RetryDelays(jitter: 0.5))
        #expect(try backoff(#"{"longest_ms":5000,"base_ms":null}"#) == RetryDelays(longest: .seconds(5)))
        #expect(try backoff("{}") == RetryDelays())
        #expect(try backoff("null") == nil)
        let made = try OperationDescription("a", backoff: RetryDelays(base: .microseconds(1500), jitter: 1))
        #expect(text(made).hasSuffix(#""backoff":{"base_ms":2,"longest_ms":3600000,"jitter":1}}"#))
    }

    @Test func `sizes and depth are limited`() throws {
        let large = try JSONText(encoding: String(repeating: "x", count: 1_048_575))
        #expect(code { try OperationDescription("a", arguments: large) } == .tooLarge)
        let meta = ["a": String(repeating: "x", count: 1_114_112)]
        #expect(code { try OperationDescription("a", meta: meta) } == .tooLarge)
        for tags in [[""], [String(repeating: "ä", count: 33)], Array(repeating: "a", count: 9)] {
            #expect(code { try OperationDescription("a", tags: tags) } == .invalidValue)
        }
        var deep: JSONText = []
        for _ in 1..<65 { deep = [deep] }
        #expect(code { try OperationDescription("a", arguments: deep) } == .tooDeep)
        #expect(code { try OperationDescription("a", encoding: ["x": deep.description]) } == nil)
    }

    @Test func `filling in changes only what was left out`() throws {
        let bare = try OperationDescription("a").filling(
            queue: "files",
            name: "n",
            unique: .drop,
            timeout: .seconds(30),
            retries: 3,
            backoff: RetryDelays(base: .seconds(1), longest: .seconds(2), jitter: 0),
            priority: 7
        )
        #expect(
            text(bare).hasSuffix(
                #""queue":"files","name":"n","unique":"drop","timeout_ms":30000,"retries":3,"#
                    + #""backoff":{"base_ms":1000,"longest_ms":2000,"jitter":0},"priority":7}"#
            )
        )
        let given = try OperationDescription(
            json:
                #"{"operation":"a","queue":"default","name":"m","unique":"ignore","timeout_ms":1,"#
                + #""retries":0,"backoff":{"x":[1], "jitter":0},"priority":5}"#
        )
        let filled = try given.filling(
            queue: "f",
            name: "n",
            unique: .drop,
            timeout: .seconds(3),
            retries: 3,
            backoff: RetryDelays(),
            priority: 7
        )
        #expect(filled == given)
        #expect(throws: DescriptionError.self) { try OperationDescription("a").filling(queue: "{") }
    }

    @Test func `names that only look the same are different`() throws {
        let composed = try OperationDescription("a", name: "\u{e9}")
        let decomposed = try OperationDescription("a", name: "e\u{301}")
        #expect(composed.name == decomposed.name)
        #expect(composed != decomposed)
    }

    private func text(_ description: OperationDescription) -> String {
        String(decoding: description.encoded(), as: UTF8.self)
    }

    private func code(_ make: () throws -> OperationDescription) -> DescriptionError.Code? {
        do {
            _ = try make()
            return nil
        } catch {
            return (error as? DescriptionError)?.code
        }
    }
}
