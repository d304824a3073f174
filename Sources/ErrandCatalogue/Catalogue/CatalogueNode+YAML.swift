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
        if AliasedKeys.mayBeThere(in: yaml) {
            throw CatalogueError(
                source: source,
                reason: "has aliases and a key that is not plain text; write the key out"
            )
        }
        let node: Node?
        do { node = try Yams.compose(yaml: yaml) } catch { throw Self.syntaxError(error, source) }
        guard let node else { throw CatalogueError(source: source, reason: "is empty; it needs \(needed)") }
        self.init(node: node, source: source)
    }

    /// Returns an error with the position, but without the lines, which may contain a password.
    private static func syntaxError(_ error: any Error, _ source: String) -> CatalogueError {
        let (problem, line): (String, Int?) =
            switch error as? YamlError {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                ("is neither YAML nor JSON: \(problem) (column \(mark.column))", mark.line)
            case .duplicatedKeysInMapping(let keys, let context):
                ("has a key twice: \(keys.joined(separator: ", "))", context.mark.line)
            case .reader(let problem, let offset, _, _):
                ("is neither YAML nor JSON: \(problem)\(offset.map { " (at byte \($0))" } ?? "")", nil)
            default: ("is neither YAML nor JSON", nil)
            }
        var described = CatalogueError(source: source, reason: problem)
        described.line = line
        return described
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
