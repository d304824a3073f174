import Yams

extension CatalogueNode {
    /// Parses YAML or JSON.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - source: The name of the text in errors: a file's path.
    ///   - needed: What an empty text lacks, for people.
    /// - Throws: ``CatalogueError`` if the text is neither, or has keys that are not plain text.
    init(yaml: String, source: String, needed: String) throws(CatalogueError) {
        if let plain = AliasedKeys.withoutAliases(yaml) { try Self.checkKeys(of: plain, source) }
        guard let node = try Self.compose(yaml, source) else {
            throw CatalogueError(source: source, reason: "is empty; it needs \(needed)")
        }
        self.init(node: node, source: source)
    }

    /// Throws if a key of the text, which has no aliases, is no text or was an alias.
    private static func checkKeys(of plain: String, _ source: String) throws(CatalogueError) {
        guard let node = try compose(plain, source), let key = AliasedKeys.key(in: node) else { return }
        let reason = "a key is an alias (*name), a list or a mapping; write the key as plain text"
        throw CatalogueError(source: source, reason: reason, line: key.mark?.line)
    }

    private static func compose(_ yaml: String, _ source: String) throws(CatalogueError) -> Node? {
        do { return try Yams.compose(yaml: yaml) } catch {
            let problem = YAMLProblem(error)
            throw CatalogueError(source: source, reason: AliasedKeys.restored(problem.reason), line: problem.line)
        }
    }

    /// Returns the line, from 1, of the innermost part of a path that is there.
    ///
    /// - Parameter place: Keys, and `[1]` for an item of a list.
    func line(of place: [String]) -> Int? {
        var found = node
        for part in place {
            guard let next = Self.part(part, of: found) else { break }
            found = next
        }
        return found.mark?.line
    }

    private static func part(_ part: String, of node: Node) -> Node? {
        switch node {
        case .mapping(let mapping): mapping.first { $0.key.string == part }?.value
        case .sequence(let items):
            Int(part.dropFirst().dropLast()).flatMap { items.indices.contains($0) ? items[$0] : nil }
        case .scalar, .alias: nil
        }
    }
}
