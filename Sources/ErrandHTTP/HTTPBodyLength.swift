/// Where the body of an answer ends.
///
/// libcurl decodes chunks, but is lenient with lengths: it takes the last one of two, and the beginning of one that is not
/// a number; an answer with such a length would be waited for in vain. So lengths are read here.
enum HTTPBodyLength: Equatable {
    case bytes(Int)
    case chunks
    /// Until the server closes the connection.
    case open

    /// Reads the length of the body after a head.
    ///
    /// - Throws: ``HTTPFailure``, a final one, if the head says no length that can be relied on.
    init(_ head: HTTPHead) throws(HTTPFailure) {
        let encodings = head.values(of: .transferEncoding)
        if head.status == 204 {
            self = .bytes(0)
        } else if !encodings.isEmpty {
            // Only this one may be sent to a client that has not asked for others. It takes precedence over a length.
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
        // `Int` would take a sign.
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
