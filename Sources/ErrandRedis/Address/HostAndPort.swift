import Errand

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The part `host[:port]` of a URL, with an IPv6 address in brackets.
enum HostAndPort {
    /// Parses the part; the default port is 6379.
    static func read(_ authority: Substring) throws(BrokerError) -> (host: String, port: Int) {
        let isLiteral = authority.hasPrefix("[")
        let end =
            isLiteral ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : authority.firstIndex(of: ":")
        if isLiteral, end == nil { throw BrokerURL.bad("the [ in front of its IPv6 address has no ]") }
        let rest = authority[(end ?? authority.endIndex)...]
        if !isLiteral, rest.dropFirst().contains(":") {
            throw BrokerURL.bad("its host has several colons; an IPv6 address is written in brackets, [::1]")
        }
        let host = isLiteral ? try literal(authority[..<rest.startIndex]) : try name(authority[..<rest.startIndex])
        guard !rest.isEmpty else { return (host, 6379) }
        guard rest.hasPrefix(":"), let port = BrokerURL.number(rest.dropFirst()), (1...65535).contains(port) else {
            throw BrokerURL.bad("the port must be a number of 1 to 65535")
        }
        return (host, port)
    }

    private static func name(_ text: Substring) throws(BrokerError) -> String {
        guard !text.isEmpty else { throw BrokerURL.bad("it names no host") }
        let host = try BrokerURL.decoded(text, "host")
        let odd = "[]<>\\^`{}|\",;@:/?#% "
        guard host.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }),
            !host.contains(where: odd.contains)
        else { throw BrokerURL.bad("the host may be a name or an address, and no list of them") }
        return host
    }

    /// Parses an IPv6 address, with its zone if it has one: `[fe80::1%25eth0]`.
    private static func literal(_ text: Substring) throws(BrokerError) -> String {
        let host = try BrokerURL.decoded(text.dropFirst().dropLast(), "host")
        let address = String(host.prefix { $0 != "%" })
        var binary = in6_addr()
        guard inet_pton(AF_INET6, address, &binary) == 1 else {
            throw BrokerURL.bad("the text in brackets must be an IPv6 address, such as [::1]")
        }
        return host
    }
}
