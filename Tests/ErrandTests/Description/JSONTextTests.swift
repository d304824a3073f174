import Errand
import Testing

@Suite struct JSONTextTests {
    @Test func `white space around a value is left out, within it kept`() throws {
        #expect(try JSONText(validating: " \n[ 1 ]\t".utf8).description == "[ 1 ]")
    }

    @Test(arguments: [
        "", " ", "1 2", "[", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{'a':1}", "[1 2]", "nul", "nullx",
        "NaN",
        "\u{feff}1", "\"\u{1}\"", "\"\n\"", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"\\ud800\\u0041\"", "\"x", "\"\\",
    ]) func `anything but one value is refused`(text: String) {
        #expect(throws: JSONTextError.self) { try JSONText(validating: text.utf8) }
    }

    @Test func `numbers are those of the grammar`() {
        let characters = Array("-+.eE019")
        var texts = [""]
        for _ in 0..<4 { texts += texts.flatMap { text in characters.map { text + String($0) } } }
        for text in Set(texts) {
            let isNumber = text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
            #expect(((try? JSONText(validating: text.utf8)) != nil) == isNumber, "\(text)")
        }
    }

    @Test func `64 levels are the most, and no input is too deep to be refused`() throws {
        for (depth, isAllowed) in [(1, true), (64, true), (65, false), (512, false), (1_000_000, false)] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(((try? JSONText(validating: text.utf8)) != nil) == isAllowed)
        }
    }

    @Test func `numbers that no machine number holds fail the decoding, not the process`() throws {
        #expect(throws: DecodingError.self) { try JSONText(validating: "1e400".utf8).decode(Double.self) }
        #expect(throws: DecodingError.self) { try JSONText(validating: "9223372036854775808".utf8).decode(Int.self) }
        #expect(throws: DecodingError.self) { try JSONText(validating: "1.5".utf8).decode(Int.self) }
        #expect(try JSONText(validating: "9007199254740993".utf8).decode(Int.self) == 9_007_199_254_740_993)
    }

    @Test func `literals are JSON`() {
        let text: JSONText = ["a": [1, -2.5, "x\"\n", true, .null], "b": [:], "c": []]
        #expect(text.description == #"{"a":[1,-2.5,"x\"\n",true,null],"b":{},"c":[]}"#)
    }

    @Test func `strings are written with the fewest escapes`() {
        var bytes: [UInt8] = []
        JSONEscaping.append("\u{0}\u{1f}\u{8}\u{c}\n\r\t\"\\/\u{7f}é😀\u{2028}", to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == #""\u0000\u001f\b\f\n\r\t\"\\/"# + "\u{7f}é😀\u{2028}\"")
        JSONEscaping.append("", to: &bytes)
        #expect(bytes.suffix(3) == Array("\"\"\"".utf8))
    }

    @Test func `the canonical form does not depend on the way of writing`() throws {
        let one = try JSONText(validating: #"{"b":[1,{"y":1,"x":2}],"a":"\u00e9\/"}"#.utf8)
        let other = try JSONText(validating: #" { "a" : "é/" , "b" : [ 1 , { "x":2, "y":1 } ] } "#.utf8)
        #expect(one.canonical == other.canonical)
        #expect(one.canonical.description == #"{"a":"é/","b":[1,{"x":2,"y":1}]}"#)
    }
}
