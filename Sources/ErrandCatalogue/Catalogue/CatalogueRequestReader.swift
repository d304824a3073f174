import Foundation

extension CatalogueRequest {
    /// Reads the `http` key of an operation.
    init(at place: CatalogueNode) throws(CatalogueError) {
        let entries = try place.entries(known: ["method", "url", "headers"])
        guard let url = entries["url"] else { throw place.error("has no key \"url\"") }
        self.init(
            method: try entries["method"].map(Self.method) ?? "POST",
            url: try Self.url(url),
            headers: try entries["headers"].map(Self.headers) ?? [:]
        )
    }

    private static func method(_ value: CatalogueNode) throws(CatalogueError) -> String {
        let text = try value.text()
        guard methods.contains(text) else {
            throw value.error("\"\(text)\" is not a method; allowed: \(methods.joined(separator: ", "))")
        }
        return text
    }

    /// The error does not repeat the address: it may hold a password.
    private static func url(_ value: CatalogueNode) throws(CatalogueError) -> URL {
        guard let url = URL(string: try value.text()), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            url.host()?.isEmpty == false
        else {
            throw value.error("is not a web address; write http://host/path or https://host/path")
        }
        return url
    }

    private static func headers(_ value: CatalogueNode) throws(CatalogueError) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in try value.entries() {
            let text = try value.text()
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
                throw value.error("\"\(name)\" is not a header field's name")
            }
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw value.error("holds a line break or another control character; a header field has one line")
            }
            headers[name] = text
        }
        return headers
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}
