import ErrandText
import Testing

struct ShortenedTextTests {
    @Test(arguments: [(0, ""), (1, ""), (2, "é"), (3, "é"), (4, "é"), (5, "é\u{FFFD}"), (9, "é\u{FFFD}é")])
    func `a text is cut between the encodings of characters, and keeps all others`(bytes: Int, expected: String) {
        #expect("é\u{FFFD}é".clipped(toUTF8: bytes) == expected)
    }

    @Test(arguments: [(1, "…"), (2, "é…"), (3, "éée"), (9, "éée")])
    func `a shortened text ends with an ellipsis`(most: Int, expected: String) {
        #expect("éée".shortened(to: most) == expected)
    }
}
