public import Errand

import struct Foundation.URLComponents

/// Where a broker is: `redis://[user[:password]@]host[:port][/db]` or `unix:///path/to/socket[?db=n]`.
///
/// Its description never shows the password.
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

    /// Reads a URL.
    ///
    /// - Throws: `BrokerError` with code `refused` that says what is wrong with the URL, without its password.
    public init(url: String) throws(BrokerError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw Self.bad("it is not a URL")
        }
        switch scheme {
        case "redis":
            self = try Self.tcp(parts)
        case "unix":
            self = try Self.unix(parts)
        case "rediss":
            throw Self.bad(
                "TLS (rediss) is not supported: hiredis 0.14 has none. Use a tunnel such as stunnel, or a Unix socket"
            )
        default:
            throw Self.bad("the scheme must be redis or unix, not \(scheme)")
        }
    }

    /// A Unix socket, database 0.
    public init(socket path: String) throws(BrokerError) {
        try self.init(place: .unix(path: path), user: nil, password: nil, database: 0)
    }

    private init(place: Place, user: String?, password: String?, database: Int) throws(BrokerError) {
        if case .unix(let path) = place, path.utf8.count > 107 {
            throw Self.bad("the socket's path has \(path.utf8.count) bytes; the system takes at most 107")
        }
        self.place = place
        self.user = user
        self.password = password
        self.database = database
    }

    private static func tcp(_ parts: URLComponents) throws(BrokerError) -> RedisAddress {
        guard let host = parts.host, !host.isEmpty else { throw bad("it names no host") }
        let port = parts.port ?? 6379
        guard (1...65535).contains(port) else { throw bad("the port must be 1 to 65535") }
        let path = parts.path.drop { $0 == "/" }
        let database = path.isEmpty ? 0 : Int(path) ?? -1
        guard (0...65535).contains(database) else {
            throw bad("the database after the host must be a number, such as /0")
        }
        if parts.query != nil || parts.fragment != nil { throw bad("it may not have a query or a fragment") }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return try RedisAddress(
            place: .tcp(host: bare, port: port),
            user: parts.user.flatMap { $0.isEmpty ? nil : $0 },
            password: parts.password,
            database: database
        )
    }

    private static func unix(_ parts: URLComponents) throws(BrokerError) -> RedisAddress {
        guard parts.host ?? "" == "", parts.path.hasPrefix("/") else {
            throw bad("a socket's path must be absolute: unix:///path/to/socket")
        }
        var database = 0
        for item in parts.queryItems ?? [] {
            guard item.name == "db", let number = Int(item.value ?? ""), (0...65535).contains(number) else {
                throw bad("the only query is db, a number: unix:///path/to/socket?db=1")
            }
            database = number
        }
        return try RedisAddress(
            place: .unix(path: parts.path),
            user: parts.user,
            password: parts.password,
            database: database
        )
    }

    private static func bad(_ what: String) -> BrokerError {
        BrokerError(
            .refused,
            "bad broker URL: \(what). Expected redis://[user[:password]@]host[:port][/db] or unix:///path"
        )
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
    /// How redis-benchmark is told where the server is; `nil` when that takes a password, which it wants among its
    /// arguments, where everybody on the machine could read it.
    package var redisBenchmarkArguments: [String]? {
        guard password == nil else { return nil }
        return switch place {
        case .tcp(let host, let port): ["-h", host, "-p", String(port), "--dbnum", String(database)]
        case .unix(let path): ["-s", path, "--dbnum", String(database)]
        }
    }
}

extension RedisAddress: CustomReflectable {
    /// The description only: a dump of the value shows no password either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
