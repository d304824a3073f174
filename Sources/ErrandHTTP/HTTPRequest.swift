package import Foundation

/// A request to a web server.
package struct HTTPRequest: Sendable {
    /// The method, such as `POST`.
    package var method: String
    /// The URL, `http` or `https`, for which ``problem(of:)`` returns `nil`, without a user and a password.
    package var url: URL
    /// The header fields, in this order.
    package private(set) var fields: [(name: String, value: String)] = []
    /// The body, if there is one.
    package var body: [UInt8]?
    /// The time limit for a connection.
    package var connectTimeout: Duration = .seconds(10)
    /// The time limit for the response, from the start of the request; `nil` for none other than the task's
    /// cancellation.
    package var timeout: Duration?

    /// Makes a request without header fields.
    package init(method: String, url: URL, body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.body = body
    }

    /// The value of a header field, whose name is case-insensitive. Setting it replaces the field; `nil` removes it.
    package subscript(field name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    /// Returns the problem with a URL, or `nil`. The text does not repeat the URL, which may contain a password.
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
        // The receiver would take the text after the colon for a part of the password.
        guard parts?.user?.contains(":") != true else {
            return "has a colon in its user's name, which HTTP cannot send (RFC 7617); a password may have one"
        }
        return nil
    }
}
