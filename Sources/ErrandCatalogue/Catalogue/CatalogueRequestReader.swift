import ErrandHTTP

extension CatalogueRequest {
    /// Parses the `http` key of an operation.
    init(at place: CatalogueNode) throws(CatalogueError) {
        let entries = try place.entries(known: ["method", "url", "headers"])
        guard let url = entries["url"] else { throw place.error("has no key \"url\"") }
        self.init(
            method: try entries["method"].map(Self.method) ?? "POST",
            address: try Self.address(url),
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

    /// Parses an address. The error does not repeat it, because it may contain a password.
    private static func address(_ value: CatalogueNode) throws(CatalogueError) -> WebAddress {
        let text = try value.text()
        do { return try WebAddress(text) } catch { throw value.error(error.reason) }
    }

    private static func headers(_ value: CatalogueNode) throws(CatalogueError) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in try value.entries() {
            let text = try value.text()
            if let problem = HTTPFieldRule.problem(name: name, value: text) { throw value.error(problem) }
            guard !HTTPRequest.isReserved(name) else {
                throw value.error(
                    "header fields whose names begin with \"\(HTTPRequest.factPrefix)\" are set by Errand; leave it out, or "
                        + "name it otherwise"
                )
            }
            guard !headers.keys.contains(where: { $0.lowercased() == name.lowercased() }) else {
                throw value.error("is there twice; upper and lower case make no difference in a header field's name")
            }
            headers[name] = text
        }
        return headers
    }
}
