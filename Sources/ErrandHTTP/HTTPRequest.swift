package import Foundation

/// One request to a web server.
package struct HTTPRequest: Sendable {
    /// Such as `POST`.
    package var method: String
    /// An `http` or `https` address that ``problem(of:)`` has nothing against, without a user and a password.
    package var url: URL
    /// Header fields, in this order.
    package private(set) var fields: [(name: String, value: String)] = []
    /// The body, if there is one.
    package var body: [UInt8]?
    /// How long to wait for a connection.
    package var connectTimeout: Duration = .seconds(10)
    /// How long to wait for the answer, from the beginning; `nil` leaves that to the cancellation of the task.
    package var timeout: Duration?

    /// Makes a request without header fields.
    package init(method: String, url: URL, body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.body = body
    }

    /// A header field by its name, in any case. Setting it replaces the one of that name; `nil` removes it.
    package subscript(field name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    /// What is wrong with an address, or `nil`. It does not repeat the address, which may hold a password.
    package static func problem(of url: URL) -> String? {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let host = parts?.encodedHost ?? ""
        guard ["http", "https"].contains(url.scheme?.lowercased() ?? ""), !host.isEmpty,
            !host.hasPrefix("[") || host.contains(":")
        else {
            return "is not a web address; write http://host/path or https://host/path"
        }
        guard url.port.map({ (1...65_535).contains($0) }) ?? true else {
            return "has a port that does not exist; ports are 1 to 65535"
        }
        // The receiver would take what follows the colon for a part of the password.
        guard parts?.user?.contains(":") != true else {
            return "has a colon in its user's name, which HTTP cannot send (RFC 7617); a password may have one"
        }
        return nil
    }
}
