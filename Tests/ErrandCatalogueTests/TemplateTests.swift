import Testing

@testable import ErrandCatalogue

struct TemplateTests {
    @Test(arguments: [
        ("plain", "{}", "plain"),
        ("{a}", #"{"a":"x y"}"#, "x y"),
        ("{a}{b}-{a}", #"{"a":"1","b":"2"}"#, "12-1"),
        ("{{a}} {{{a}}}", #"{"a":"x"}"#, "{a} {x}"),
        ("{a}", #"{"a":1.0}"#, "1.0"),
        ("{a}", #"{"a":123456789012345678901234567890.10e+05}"#, "123456789012345678901234567890.10e+05"),
        ("{a}", #"{"a":-0}"#, "-0"),
        ("{a}", #"{"a":true}"#, "true"),
        ("{a}", #"{"a": [1, {"b": null}] }"#, #"[1, {"b": null}]"#),
        ("{a}", #"{"a":""}"#, ""),
        ("{a}", #"{"a":"$(rm -rf /); 'quoted'"}"#, "$(rm -rf /); 'quoted'"),
        ("{a}", #"{"a":"\"\\\/\b\f\n\r\té\ud83d\ude00"}"#, "\"\\/\u{8}\u{C}\n\r\té😀"),
        ("{a b}", #"{"a b":"x"}"#, "x"),
        ("{é}", #"{"\u00e9":"x"}"#, "x"),
        ("{a}", #"{"a":1,"a":2}"#, "2"),
        ("{a}", " \t\r\n{ \"a\" : 5 } \n", "5"),
    ])
    func fillsIn(template: String, arguments: String, text: String) throws {
        #expect(try Template(template).render(json: Array(arguments.utf8)) == text)
    }

    @Test(arguments: [
        ("{a}", "{}", "the argument \"a\" is missing"),
        ("{a}", #"{"a":null}"#, "the argument \"a\" is null"),
        ("{e\u{301}}", #"{"é":"x"}"#, "the argument \"e\u{301}\" is missing"),
        ("{a}", #"{"a":"x\u0000y"}"#, "holds a NUL character"),
        ("{a}", "[1]", "are not a JSON object"),
        ("{a}", "\"a\"", "are not a JSON object"),
        ("{a}", "null", "are not a JSON object"),
    ])
    func refuses(template: String, arguments: String, reason: String) throws {
        let template = try Template(template)
        let error = #expect(throws: ArgumentError.self) { try template.render(json: Array(arguments.utf8)) }
        #expect(try #require(error).description.contains(reason))
    }

    @Test(arguments: [
        "", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{'a':1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}",
        "{\"a\":+1}", "{\"a\":1e}", "{\"a\":tru}", "{\"a\":nullx}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"x}",
        "{\"a\":[1 2]}", "{\"a\":NaN}", "{\"a\":-}", "{\"a\":\"\\", "{\"a\":\"\\u+123\"}",
    ])
    func refusesWhatIsNotJSON(arguments: String) throws {
        let template = try Template("{a}")
        let error = #expect(throws: ArgumentError.self) { try template.render(json: Array(arguments.utf8)) }
        #expect(try #require(error).description.contains("not valid JSON"))
    }

    @Test func refusesBytesThatAreNotUTF8() throws {
        let template = try Template("{a}")
        let json = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)
        #expect(throws: ArgumentError.self) { try template.render(json: json) }
    }

    @Test func knowsHowDeepIsTooDeep() throws {
        let template = try Template("{a}")
        let nested = { (levels: Int) in
            "{\"a\":" + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
        }
        #expect(try template.render(json: Array(nested(64).utf8)).count == 126)
        #expect(throws: ArgumentError.self) { try template.render(json: Array(nested(65).utf8)) }
        #expect(throws: ArgumentError.self) { try template.render(json: Array(nested(500_000).utf8)) }
    }

    @Test func needsNoObjectWithoutPlaces() throws {
        #expect(try Template("a {{b}}").render(json: Array("[1]".utf8)) == "a {b}")
    }
}
