public import Errand

/// The address of a broker:
///
/// - `redis://[[user]:password@]host[:port][/db]`: a server, or any one of a cluster's
/// - `redis+cluster://[[user]:password@]host[:port],host[:port]…`: some servers of a cluster, which name the others
/// - `redis+sentinel://[[user]:password@]host[:port],host[:port]…/master[/db]`: sentinels, and the name of the master that
///   they watch. The credentials are those of the master; `?sentinel_user=…&sentinel_password=…` are those of the
///   sentinels. Their default port is 26379.
/// - `unix://[[user]:password@]/path/to/socket[?db=n]`: a server's socket
///
/// A user without a password is refused. Characters with a meaning in URLs are percent-encoded in user, password and
/// path. The description never contains the credentials.
public struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
    enum Place: Sendable, Hashable {
        case server(ServerPlace)
        case cluster([HostAndPort])
        case sentinels(Sentinels)
    }

    /// Where a server listens.
    enum ServerPlace: Sendable, Hashable {
        case tcp(HostAndPort)
        case unix(path: String)
    }

    /// Sentinels, and what to ask them for.
    struct Sentinels: Sendable, Hashable {
        let places: [HostAndPort]
        /// The name of the master that they watch.
        let master: String
        let user: String?
        let password: String?
    }

    private(set) var place: Place
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
        let (place, database): (Place, Int) =
            switch parts.scheme {
            case "redis": try Self.tcp(parts)
            case "redis+cluster": (try Self.cluster(parts), 0)
            case "redis+sentinel": try Self.sentinels(parts)
            case "unix": try Self.unix(parts)
            case "rediss":
                throw BrokerURL.bad(
                    "TLS (rediss) is not supported on any platform. Use a tunnel such as stunnel, or a Unix socket"
                )
            default:
                throw BrokerURL.bad(
                    "the scheme must be redis, redis+cluster, redis+sentinel or unix, not \(parts.scheme.shownAsScheme)"
                )
            }
        try self.init(place: place, user: parts.user, password: parts.password, database: database)
    }

    /// Makes an address of a Unix socket and database 0.
    ///
    /// - Throws: `BrokerError` with code `refused` if the path is longer than the system permits.
    public init(socket path: String) throws(BrokerError) {
        try self.init(place: .server(.unix(path: path)), user: nil, password: nil, database: 0)
    }

    /// Returns the address of an embedded server's socket.
    static func embedded(_ path: String) throws(BrokerError) -> RedisAddress {
        var address = try RedisAddress(socket: path)
        address.isEmbedded = true
        return address
    }

    private init(place: Place, user: String?, password: String?, database: Int) throws(BrokerError) {
        if case .server(.unix(let path)) = place, path.utf8.count > 107 {
            throw BrokerURL.bad("the socket's path has \(path.utf8.count) bytes; the system allows at most 107")
        }
        self.place = place
        self.user = user
        self.password = password
        self.database = database
    }

    /// Returns the address of one server of this broker, with the same credentials.
    func server(_ place: HostAndPort) -> RedisAddress { RedisAddress(self, at: .tcp(place)) }

    private init(_ address: RedisAddress, at place: ServerPlace) {
        self.place = .server(place)
        user = address.user
        password = address.password
        database = address.database
    }

    /// Makes the address of a sentinel.
    init(_ sentinels: Sentinels, at sentinel: HostAndPort) { self.init(sentinels, .server(.tcp(sentinel))) }

    /// Returns the address of the same master with another sentinel to ask first.
    func asking(first sentinel: HostAndPort) -> RedisAddress {
        guard case .sentinels(let sentinels) = place else { return self }
        let places = [sentinel] + sentinels.places.filter { $0 != sentinel }
        var address = self
        address.place = .sentinels(
            Sentinels(places: places, master: sentinels.master, user: sentinels.user, password: sentinels.password)
        )
        return address
    }

    private init(_ sentinels: Sentinels, _ place: Place) {
        self.place = place
        user = sentinels.user
        password = sentinels.password
        database = 0
    }

    private static func tcp(_ parts: BrokerURL) throws(BrokerError) -> (Place, database: Int) {
        guard parts.query.isEmpty else {
            throw BrokerURL.bad("it may not have a query; the database is a path, such as /1")
        }
        return (.server(.tcp(try HostAndPort.read(parts.authority))), try database(parts.path.dropFirst()))
    }

    private static func database(_ path: Substring) throws(BrokerError) -> Int {
        guard path.isEmpty || BrokerURL.number(path) != nil, let database = path.isEmpty ? 0 : Int(path),
            (0...65535).contains(database)
        else { throw BrokerURL.bad("the database at its end must be a number of 0 to 65535, such as /0") }
        return database
    }

    private static func cluster(_ parts: BrokerURL) throws(BrokerError) -> Place {
        guard parts.query.isEmpty, ["", "/", "/0"].contains(parts.path) else {
            throw BrokerURL.bad("a cluster has only database 0, and its URL neither a path nor a query")
        }
        return .cluster(try HostAndPort.list(parts.authority, port: 6379))
    }

    private static func sentinels(_ parts: BrokerURL) throws(BrokerError) -> (Place, database: Int) {
        let path = parts.path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let master = path.first, !master.isEmpty else {
            throw BrokerURL.bad("it must name the sentinels' master: redis+sentinel://host,host/mymaster")
        }
        var credentials: [String: String] = [:]
        for (name, value) in parts.query {
            guard ["sentinel_user", "sentinel_password"].contains(name), !value.isEmpty, credentials[name] == nil else {
                throw BrokerURL.bad(
                    "its query may only have sentinel_user and sentinel_password, once and not empty; in their values, & must be "
                        + "percent-encoded (%26)"
                )
            }
            credentials[name] = value
        }
        guard credentials["sentinel_user"] == nil || credentials["sentinel_password"] != nil else {
            throw BrokerURL.bad("it names a sentinel_user without a sentinel_password")
        }
        let sentinels = Sentinels(
            places: try HostAndPort.list(parts.authority, port: 26379),
            master: String(master),
            user: credentials["sentinel_user"],
            password: credentials["sentinel_password"]
        )
        return (.sentinels(sentinels), try database(path.count == 2 ? path[1] : ""))
    }

    private static func unix(_ parts: BrokerURL) throws(BrokerError) -> (Place, database: Int) {
        guard parts.authority.isEmpty, parts.path.utf8.count > 1 else {
            throw BrokerURL.bad("a socket's path must be absolute: unix:///path/to/socket")
        }
        let place = Place.server(.unix(path: parts.path))
        guard let item = parts.query.first else { return (place, 0) }
        guard parts.query.count == 1, item.name == "db", let database = BrokerURL.number(item.value[...]),
            (0...65535).contains(database)
        else {
            throw BrokerURL.bad("the only query is db, a number of 0 to 65535, once: unix:///path/to/socket?db=1")
        }
        return (place, database)
    }

    /// The address without user and password.
    public var description: String {
        switch place {
        case .server(.tcp(let place)): "redis://\(place)/\(database)"
        case .server(.unix(let path)): "unix://\(path)" + (database == 0 ? "" : "?db=\(database)")
        case .cluster(let places): "redis+cluster://" + places.map(\.description).joined(separator: ",")
        case .sentinels(let sentinels):
            "redis+sentinel://\(sentinels.places.map(\.description).joined(separator: ","))/\(sentinels.master)/\(database)"
        }
    }
}

extension RedisAddress {
    /// Whether servers have to be asked before it is known where keys are.
    var mayBelongToCluster: Bool { isCluster || hostAndPort != nil }

    var isCluster: Bool { if case .cluster = place { true } else { false } }

    /// The host and port of one server; `nil` for a socket, and for several servers.
    var hostAndPort: HostAndPort? { if case .server(.tcp(let place)) = place { place } else { nil } }

    /// The servers of a cluster that are known before any was asked.
    var seeds: [HostAndPort] { if case .cluster(let places) = place { places } else { hostAndPort.map { [$0] } ?? [] } }

    /// The address as arguments of redis-benchmark; `nil` if it is not one server's, or has a password, which
    /// redis-benchmark would take as an argument that every user of the machine can read.
    package var redisBenchmarkArguments: [String]? {
        guard password == nil else { return nil }
        return switch place {
        case .server(.tcp(let place)): ["-h", place.host, "-p", String(place.port), "--dbnum", String(database)]
        case .server(.unix(let path)): ["-s", path, "--dbnum", String(database)]
        case .cluster, .sentinels: nil
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
