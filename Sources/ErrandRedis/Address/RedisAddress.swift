public import Errand

/// The address of a broker: `redis://[[user]:password@]host[:port][/db]` or
/// `unix://[[user]:password@]/path/to/socket[?db=n]`.
///
/// A user without a password is refused. Characters with a meaning in URLs are percent-encoded in user, password and
/// path. The description never contains the credentials.
public struct RedisAddress: Sendable, Equatable, CustomStringConvertible {
    enum Place: Sendable, Equatable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    let place: Place
    var isTCP: Bool { if case .tcp = place { true } else { false } }
    let user: String?
    let password: String?
    let database: Int
    /// Whether the server is an embedded one, whose data is at a higher risk: no administrator watches its disk.
    private(set) var isEmbedded = false

    /// Parses a URL.
    ///
    /// - Throws: `BrokerError` with code `refused` that describes the problem, without the password.
    public init(url: String) throws(BrokerError) {
        let parts = try BrokerURL(url)
        let (place, database) =
            switch parts.scheme {
            case "redis": try Self.tcp(parts)
            case "unix": try Self.unix(parts)
            case "rediss":
                throw BrokerURL.bad(
                    "TLS (rediss) is not supported: hiredis 0.14 has none. Use a tunnel such as stunnel, or a Unix socket"
                )
            default: throw BrokerURL.bad("the scheme must be redis or unix, not \(parts.scheme.shownAsScheme)")
            }
        try self.init(place: place, user: parts.user, password: parts.password, database: database)
    }

    /// Makes an address of a Unix socket and database 0.
    ///
    /// - Throws: `BrokerError` with code `refused` if the path is longer than the system permits.
    public init(socket path: String) throws(BrokerError) {
        try self.init(place: .unix(path: path), user: nil, password: nil, database: 0)
    }

    /// Returns the address of an embedded server's socket.
    static func embedded(_ path: String) throws(BrokerError) -> RedisAddress {
        var address = try RedisAddress(socket: path)
        address.isEmbedded = true
        return address
    }

    private init(place: Place, user: String?, password: String?, database: Int) throws(BrokerError) {
        if case .unix(let path) = place, path.utf8.count > 107 {
            throw BrokerURL.bad("the socket's path has \(path.utf8.count) bytes; the system allows at most 107")
        }
        self.place = place
        self.user = user
        self.password = password
        self.database = database
    }

    private static func tcp(_ parts: BrokerURL) throws(BrokerError) -> (Place, database: Int) {
        guard parts.query.isEmpty else {
            throw BrokerURL.bad("it may not have a query; the database is a path, such as /1")
        }
        let (host, port) = try HostAndPort.read(parts.authority)
        let path = parts.path.dropFirst()
        guard path.isEmpty || BrokerURL.number(path) != nil, let database = path.isEmpty ? 0 : Int(path),
            (0...65535).contains(database)
        else { throw BrokerURL.bad("the database after the host must be a number of 0 to 65535, such as /0") }
        return (.tcp(host: host, port: port), database)
    }

    private static func unix(_ parts: BrokerURL) throws(BrokerError) -> (Place, database: Int) {
        guard parts.authority.isEmpty, parts.path.utf8.count > 1 else {
            throw BrokerURL.bad("a socket's path must be absolute: unix:///path/to/socket")
        }
        guard let item = parts.query.first else { return (.unix(path: parts.path), 0) }
        guard parts.query.count == 1, item.name == "db", let database = BrokerURL.number(item.value[...]),
            (0...65535).contains(database)
        else {
            throw BrokerURL.bad("the only query is db, a number of 0 to 65535, once: unix:///path/to/socket?db=1")
        }
        return (.unix(path: parts.path), database)
    }

    /// The address without user and password.
    public var description: String {
        switch place {
        case .tcp(let host, let port): "redis://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
        case .unix(let path): "unix://\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }
}

extension RedisAddress {
    /// The address as arguments of redis-benchmark; `nil` if it has a password, which redis-benchmark would take as an
    /// argument that every user of the machine can read.
    package var redisBenchmarkArguments: [String]? {
        guard password == nil else { return nil }
        return switch place {
        case .tcp(let host, let port): ["-h", host, "-p", String(port), "--dbnum", String(database)]
        case .unix(let path): ["-s", path, "--dbnum", String(database)]
        }
    }
}

extension String {
    /// The scheme as an error may show it: an invalid scheme may be the beginning of credentials.
    fileprivate var shownAsScheme: String {
        utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "+") } ? self : "the text before ://"
    }
}

extension RedisAddress: CustomReflectable {
    /// Contains only the description, so that a dump of the value does not contain the password.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
