package import Errand
import ErrandHTTP
package import Foundation

/// The address of an `http` operation, with placeholders for arguments: `https://example.com/users/{id}`.
package struct WebAddress: Sendable {
    private let template: Template
    /// The address with sample values for the placeholders. It may contain credentials.
    let sample: URL

    /// Parses an address.
    ///
    /// - Throws: ``WebAddressError``, which does not repeat the address: it may contain a password.
    package init(_ text: String) throws(WebAddressError) {
        let template: Template
        do { template = try Template(text) } catch { throw WebAddressError(error.reason) }
        // With a word for each argument it is a normal address, which Foundation normalizes (escapes, the host's name
        // in ASCII). The text between the words is constant.
        var whole = ""
        var places: [(word: String, name: String)] = []
        for part in template.parts {
            switch part {
            case .text(let literal): whole += literal
            case .argument(let name):
                places.append(("errandargument\(places.count)x", name))
                whole += "errandargument\(places.count - 1)x"
            }
        }
        sample = try Self.checked(URL(string: whole), hasArguments: !places.isEmpty)
        self.template = Template(source: text, parts: try Self.split(sample.absoluteString, at: places))
    }

    /// Replaces the placeholders by percent-encoded arguments.
    ///
    /// - Parameter arguments: The job's arguments; only split if there is a placeholder.
    /// - Throws: ``ArgumentError`` if an argument is missing or null, or changes the structure of the address.
    package func url(_ arguments: JSONText) throws(ArgumentError) -> URL {
        guard template.hasArguments else { return sample }
        let text = try template.render(ArgumentFields(arguments), encode: Self.encoded)
        do { return try Self.checked(URL(string: text), hasArguments: true) } catch {
            throw ArgumentError(reason: "with its arguments, the address \(error.reason)")
        }
    }

    /// Checks that an argument neither leaves its component of the address nor turns a component into another server's
    /// name.
    private static func checked(_ url: URL?, hasArguments: Bool) throws(WebAddressError) -> URL {
        guard let url else {
            throw WebAddressError(
                hasArguments
                    ? "is not a web address; an argument may be a part of the server's name, the path or the query"
                    : "is not a web address; write http://host/path or https://host/path"
            )
        }
        if let problem = HTTPRequest.problem(of: url) { throw WebAddressError(problem) }
        guard hasArguments else { return url }
        let host = URLComponents(url: url, resolvingAgainstBaseURL: true)?.encodedHost ?? ""
        guard !host.contains("%") || host.contains(":") else {
            throw WebAddressError(
                "has characters in its server's name that do not belong there: letters, digits, -, ., _ and ~ are allowed"
            )
        }
        let segments = url.path(percentEncoded: true).split(separator: "/")
        guard !segments.contains(where: { $0 == "." || $0 == ".." }) else {
            throw WebAddressError("has \".\" or \"..\" as a part of its path, which stands for another path")
        }
        return url
    }

    private static func split(
        _ text: String,
        at places: [(word: String, name: String)]
    ) throws(WebAddressError) -> [Template.Part] {
        var parts: [Template.Part] = []
        var rest = text[...]
        for (word, name) in places {
            guard let range = rest.range(of: word) else {
                throw WebAddressError(
                    "has an argument in a place that cannot have one; it may be a part of the server's name, the path or the "
                        + "query"
                )
            }
            parts += [.text(String(rest[..<range.lowerBound])), .argument(name)]
            rest = rest[range.upperBound...]
        }
        return parts + [.text(String(rest))]
    }

    /// Percent-encodes all characters except letters, digits and `-._~`, because each of them has a meaning in some
    /// component.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

/// The error for a text that is not a web address.
package struct WebAddressError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
