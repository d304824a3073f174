import Errand
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
        #expect(try Template(template).render(JSONText(validating: arguments.utf8)) == text)
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
        let arguments = try JSONText(validating: arguments.utf8)
        let error = #expect(throws: ArgumentError.self) { try template.render(arguments) }
        #expect(try #require(error).description.contains(reason))
    }

    @Test func needsNoObjectWithoutPlaces() throws {
        #expect(try Template("a {{b}}").render([1]) == "a {b}")
    }
}
