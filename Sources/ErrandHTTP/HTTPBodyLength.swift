/// The length of a response's body.
///
/// libcurl decodes chunks, but is lenient with lengths: it uses the last of two, and the leading digits of one that is
/// not a number, and would wait in vain for the end of such a response. So this type parses lengths.
enum HTTPBodyLength: Equatable {
    case bytes(Int)
    case chunks
    /// The body ends when the server closes the connection.
    case open

    /// Reads the length from a head.
    ///
    /// - Throws: A final ``HTTPFailure`` if the head has no reliable length.
    init(_ head: HTTPHead) throws(HTTPFailure) {
        let encodings = head.values(of: .transferEncoding)
        if head.status == 204 {
            self = .bytes(0)
        } else if !encodings.isEmpty {
            // A server may send only this encoding to a client that requests none. It takes precedence over a length.
            guard encodings.map({ $0.lowercased() }) == ["chunked"] else {
                throw .unreadable("its Transfer-Encoding is \(Self.quoted(encodings)) and not \"chunked\"")
            }
            self = .chunks
        } else {
            self = try Self.read(head.values(of: .contentLength))
        }
    }

    private static func read(_ lengths: [String]) throws(HTTPFailure) -> HTTPBodyLength {
        guard let first = lengths.first else { return .open }
        guard lengths.allSatisfy({ $0 == first }) else {
            throw .unreadable("it has different values of Content-Length: \(quoted(lengths))")
        }
        // `Int` would accept a sign.
        guard first.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(first)
        else {
            throw .unreadable("its Content-Length is \(quoted([first])) and not a number of bytes")
        }
        return .bytes(length)
    }

    private static func quoted(_ values: [String]) -> String {
        PrintableQuote(Array(values.joined(separator: ", ").utf8)).description
    }
}
