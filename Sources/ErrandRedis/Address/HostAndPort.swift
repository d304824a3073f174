import Errand

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The part `host[:port]` of a URL, with an IPv6 address in brackets.
struct HostAndPort: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The part of a URL.
    var description: String {
        "\(host.contains(":") ? "[\(host.replacing("%", with: "%25"))]" : host):\(port)"
    }

    /// Parses a list that is separated by commas.
    static func list(_ authority: Substring, port: Int) throws(BrokerError) -> [HostAndPort] {
        var list: [HostAndPort] = []
        for part in authority.split(separator: ",", omittingEmptySubsequences: false) {
            let item = try read(part, port: port)
            if !list.contains(item) { list.append(item) }
        }
        return list
    }

    /// Parses the part.
    ///
    /// - Parameter port: The port if the part has none.
    static func read(_ authority: Substring, port usual: Int = 6379) throws(BrokerError) -> HostAndPort {
        guard !authority.contains(",") else {
            throw BrokerURL.bad("it lists several hosts; only redis+cluster:// and redis+sentinel:// take a list")
        }
        let isLiteral = authority.hasPrefix("[")
        let end =
            isLiteral ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : authority.firstIndex(of: ":")
        if isLiteral, end == nil { throw BrokerURL.bad("the [ in front of its IPv6 address has no ]") }
        let rest = authority[(end ?? authority.endIndex)...]
        if !isLiteral, rest.dropFirst().contains(":") {
            throw BrokerURL.bad("its host has several colons; an IPv6 address is written in brackets, [::1]")
        }
        let host = isLiteral ? try literal(authority[..<rest.startIndex]) : try name(authority[..<rest.startIndex])
        guard !rest.isEmpty else { return HostAndPort(host: host, port: usual) }
        guard rest.hasPrefix(":"), let port = BrokerURL.number(rest.dropFirst()), (1...65535).contains(port) else {
            throw BrokerURL.bad("the port must be a number of 1 to 65535")
        }
        return HostAndPort(host: host, port: port)
    }

    /// Checks what a server reports.
    ///
    /// - Returns: `nil` if the host cannot be one, or the port is not in 1 to 65,535.
    init?(reported host: String, port: Int64) {
        guard !host.isEmpty, Self.isPlausible(host.filter { $0 != ":" && $0 != "%" }), (1...65535).contains(port) else {
            return nil
        }
        self.init(host: host, port: Int(port))
    }

    private static func isPlausible(_ host: String) -> Bool {
        let odd = "[]<>\\^`{}|\",;@:/?#% "
        return host.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
            && !host.contains(where: odd.contains)
    }

    private static func name(_ text: Substring) throws(BrokerError) -> String {
        guard !text.isEmpty else { throw BrokerURL.bad("it names no host") }
        let host = try BrokerURL.decoded(text, "host")
        guard isPlausible(host) else {
            throw BrokerURL.bad(
                "its host must be one name or address, without brackets, quotes and the like (only redis+cluster:// and "
                    + "redis+sentinel:// take a list)"
            )
        }
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
