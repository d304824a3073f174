extension HTTPFailure {
    /// The failure of a request that is answered in another protocol than HTTP/1.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes that came.
    ///   - method: The request's method; a server that sends the request back is not quoted.
    static func notHTTP(_ bytes: [UInt8], to method: String) -> HTTPFailure {
        HTTPFailure("the other side does not speak HTTP\(hint(bytes, method))", isFinal: true)
    }

    private static func hint(_ bytes: [UInt8], _ method: String) -> String {
        if isTLSRecord(bytes) { return " but TLS; write https:// instead of http://" }
        if isHTTP2Settings(bytes) { return "/1.1 but HTTP/2, without a choice" }
        let quote = PrintableQuote(bytes)
        if quote.isEmpty { return "" }
        return quote.text.hasPrefix(method) ? "; it sends back what it gets" : "; its answer begins with \(quote)"
    }

    /// An alert or a part of a handshake.
    private static func isTLSRecord(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 3
    }

    /// The frame that begins each connection: a length of three bytes, type 4, flags, and stream 0.
    private static func isHTTP2Settings(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 9 && bytes[0] == 0 && bytes[3] == 4 && bytes[5..<9].allSatisfy { $0 == 0 }
    }
}
