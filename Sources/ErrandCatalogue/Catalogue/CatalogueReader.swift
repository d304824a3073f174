import ErrandText
import Foundation
import Yams

/// Parses the operations of a catalogue and refuses unknown keys and values.
struct CatalogueReader {
    private static let operationKeys = [
        "run", "http", "name", "unique", "unique_until", "timeout", "retries", "backoff", "queue", "priority",
    ]

    let source: String

    func catalogue(in yaml: String) throws(CatalogueError) -> Catalogue {
        let root = CatalogueNode(node: try tree(of: yaml), source: source)
        let parts = try root.entries(known: ["operations", "schedules"])
        guard let list = parts["operations"] else { throw root.error("has no key \"operations\"") }
        let operations = try operations(in: list)
        return Catalogue(operations: operations, schedules: try schedules(parts["schedules"], operations))
    }

    private func operations(in list: CatalogueNode) throws(CatalogueError) -> [CatalogueOperation] {
        let entries = try CatalogueNode(node: list.node, source: source).entries()
        var operations: [CatalogueOperation] = []
        for (name, value) in entries {
            let place = CatalogueNode(node: value.node, source: source, operation: name)
            operations.append(try operation(name, at: place))
        }
        return operations
    }

    private func tree(of yaml: String) throws(CatalogueError) -> Node {
        if AliasedKeys.mayBeThere(in: yaml) {
            throw CatalogueError(
                source: source,
                reason: "has aliases and a key that is not plain text; write the key out"
            )
        }
        do {
            if let node = try Yams.compose(yaml: yaml) { return node }
        } catch {
            throw syntaxError(error)
        }
        throw CatalogueError(source: source, reason: "is empty; it needs a key \"operations\"")
    }

    /// Returns an error with the position, but without the lines, which may contain a password.
    private func syntaxError(_ error: any Error) -> CatalogueError {
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

    private func operation(_ name: String, at place: CatalogueNode) throws(CatalogueError) -> CatalogueOperation {
        guard NameRule.allows(name) else { throw place.error("the operation's name is not allowed: \(NameRule.text)") }
        let entries = try place.entries(known: Self.operationKeys)
        var operation = CatalogueOperation(name: name, kind: try kind(entries, at: place))
        operation.nameTemplate = try entries["name"].map(nameTemplate)
        operation.uniqueness = try entries["unique"].map(uniqueness)
        operation.uniqueUntil = try entries["unique_until"].map(uniqueUntil)
        operation.timeout = try entries["timeout"].map(timeout)
        operation.retries = try entries["retries"].map { value throws(CatalogueError) in
            try value.number(in: 0...1_000)
        }
        operation.backoff = try entries["backoff"].map(backoff)
        operation.queue = try entries["queue"].map(queue)
        operation.priority = try entries["priority"].map { value throws(CatalogueError) in
            try value.number(in: 0...9)
        }
        return operation
    }

    private func kind(
        _ entries: [String: CatalogueNode],
        at place: CatalogueNode
    ) throws(CatalogueError) -> CatalogueOperation.Kind {
        switch (entries["run"], entries["http"]) {
        case (let run?, nil): return .run(try command(run))
        case (nil, let http?): return .http(try CatalogueRequest(at: http))
        case (nil, nil): throw place.error("says neither \"run\" nor \"http\"; one of them is needed")
        case (_?, _?): throw place.error("says both \"run\" and \"http\"; only one of them is allowed")
        }
    }

    private func command(_ run: CatalogueNode) throws(CatalogueError) -> [Template] {
        if case .scalar = run.node, !run.isNull {
            throw run.error(
                "is one text; write a list, one value each: [sha256sum, --, \"{path}\"] (there is no shell)"
            )
        }
        let templates = try run.values().map(template)
        guard let first = templates.first, !first.source.isEmpty else {
            throw run.error("names no command; its first value is the command")
        }
        return templates
    }

    func template(_ value: CatalogueNode) throws(CatalogueError) -> Template {
        let text = try value.text()
        do {
            return try Template(text)
        } catch {
            throw value.error("\(error)")
        }
    }

    private func nameTemplate(_ value: CatalogueNode) throws(CatalogueError) -> Template {
        let name = try template(value)
        guard name.literalBytes <= NameRule.mostNameBytes, name.hasArguments || name.literalBytes > 0 else {
            throw value.error(
                "has \(name.literalBytes) bytes besides arguments; a job's name has 1 to \(NameRule.mostNameBytes) bytes"
            )
        }
        return name
    }

    func uniqueness(_ value: CatalogueNode) throws(CatalogueError) -> CatalogueOperation.Uniqueness {
        try word(value, "a uniqueness policy")
    }

    func uniqueUntil(_ value: CatalogueNode) throws(CatalogueError) -> CatalogueOperation.UniqueUntil {
        try word(value, "how long a name is held")
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(
        _ value: CatalogueNode,
        _ what: String
    ) throws(CatalogueError) -> Word {
        let text = try value.text()
        guard let word = Word(rawValue: text) else {
            let allowed = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw value.error("\"\(text)\" is not \(what); allowed: \(allowed)")
        }
        return word
    }

    func duration(_ value: CatalogueNode) throws(CatalogueError) -> Duration {
        let text = try value.text()
        do {
            return try DurationText.parse(text)
        } catch {
            throw value.error("\(error)")
        }
    }

    /// The longest timeout that a job may have.
    private static let longestTimeout = Duration.seconds(365 * 86_400)

    func timeout(_ value: CatalogueNode) throws(CatalogueError) -> Duration {
        let timeout = try duration(value)
        guard timeout <= Self.longestTimeout else {
            throw value.error(
                "is \(DurationText.format(timeout)); the longest timeout of a job is \(DurationText.format(Self.longestTimeout))"
            )
        }
        return timeout
    }

    func queue(_ value: CatalogueNode) throws(CatalogueError) -> String {
        let name = try value.text()
        guard NameRule.allows(name) else { throw value.error("\"\(name)\" is not a queue's name: \(NameRule.text)") }
        return name
    }
}

/// The rule for names of operations, schedules and queues.
enum NameRule {
    /// The maximum length of a unique name in bytes.
    static let mostNameBytes = 1024
    static let text = "1 to 128 of the characters A-Z, a-z, 0-9, \"_\", \".\" and \"-\" are allowed"

    static func allows(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && name.utf8.allSatisfy(allows)
    }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: [UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-")].contains(byte)
        }
    }
}
