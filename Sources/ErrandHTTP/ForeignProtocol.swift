extension HTTPFailure {
    /// Makes the failure for a response that is not HTTP/1.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the response.
    ///   - method: The request's method, which shows that a server sends the request back. Such a response is not
    ///     quoted.
    static func notHTTP(_ bytes: [UInt8], to method: String) -> HTTPFailure {
        let what = "the other side does not speak HTTP"
        if let hint = hint(bytes, method) { return HTTPFailure(what + hint, isFinal: true) }
        let quote = PrintableQuote(bytes)
        return .answered(quote.isEmpty ? what : "\(what); its response begins with \(quote)")
    }

    /// Returns a hint for a protocol whose server does no work for such a request.
    private static func hint(_ bytes: [UInt8], _ method: String) -> String? {
        if isTLSRecord(bytes) { return " but TLS; write https:// instead of http://" }
        if isHTTP2Settings(bytes) { return "/1.1 but only HTTP/2" }
        return PrintableQuote(bytes).text.hasPrefix(method)
            ? "; it only sends back what it gets, so check the port" : nil
    }

    /// Returns whether the bytes are a TLS alert or a part of a handshake.
    private static func isTLSRecord(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 3
    }

    /// Returns whether the bytes are the first frame of an HTTP/2 connection: a length of three bytes, type 4, flags,
    /// and stream 0.
    private static func isHTTP2Settings(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 9 && bytes[0] == 0 && bytes[3] == 4 && bytes[5..<9].allSatisfy { $0 == 0 }
    }
}
