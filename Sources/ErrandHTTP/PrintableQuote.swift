/// A quote from the first bytes of a response, for error texts: a few printable characters in quotation marks.
///
/// It is short, because a server may send back its input, which may contain secrets.
struct PrintableQuote: CustomStringConvertible {
    private static let limit = 24

    let text: String

    init(_ bytes: [UInt8]) {
        let printable = bytes.drop(while: { !Self.isPrintable($0) }).prefix(while: Self.isPrintable)
        text = String(decoding: printable.prefix(Self.limit), as: UTF8.self)
    }

    var isEmpty: Bool { text.isEmpty }

    var description: String { "\"\(text)\"" }

    private static func isPrintable(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
