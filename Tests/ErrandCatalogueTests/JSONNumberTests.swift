import Testing

@testable import ErrandCatalogue

@Suite struct JSONNumberTests {
    @Test(arguments: ["0", "-0", "7", "10", "-12.50", "1e9", "1E+9", "0.5e-3", "123456789012345678901234567890"])
    func isOne(_ text: String) { #expect(JSONNumber.isWhole(text.utf8[...])) }

    @Test(
        arguments: [
            "", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "0x1", "1_000", "1 ", " 1", "NaN", "inf",
            "1,0", "--1",
            "1e5.0", "\u{661}",
        ]
    )
    func isNone(_ text: String) { #expect(!JSONNumber.isWhole(text.utf8[...])) }

    /// What was used before, and says the same.
    @Test func isWhatTheGrammarSays() {
        let characters = Array("-+.eE019")
        var texts = [""]
        for _ in 0..<4 { texts += texts.flatMap { text in characters.map { text + String($0) } } }
        for text in Set(texts) {
            let isNumber = text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
            #expect(JSONNumber.isWhole(text.utf8[...]) == isNumber, "\(text)")
        }
    }
}
