import Errand
import Yams

/// Parses the operations of a catalogue and refuses unknown keys and values.
struct CatalogueReader {
    private static let operationKeys =
        ["run", "http", "serve", "name", "group", "retry_after"] + ServedCommand.keys + JobValues.keys

    let source: String

    func catalogue(in yaml: String) throws(CatalogueError) -> Catalogue {
        let root = try CatalogueNode(yaml: yaml, source: source, needed: "a key \"operations\"")
        let parts = try root.entries(known: ["operations", "schedules"])
        guard let list = parts["operations"] else { throw root.error("has no key \"operations\"") }
        let operations = try operations(in: list)
        return Catalogue(operations: operations, schedules: try schedules(parts["schedules"], operations))
    }

    private func operations(in list: CatalogueNode) throws(CatalogueError) -> [CatalogueOperation] {
        var operations: [CatalogueOperation] = []
        for (name, value) in try list.entries() {
            let place = CatalogueNode(node: value.node, source: source, operation: name)
            operations.append(try operation(name, at: place))
        }
        return operations
    }

    private func operation(_ name: String, at place: CatalogueNode) throws(CatalogueError) -> CatalogueOperation {
        guard QueueName.isValid(name) else {
            throw place.error("the operation's name is not allowed: \(CatalogueNode.nameRule)")
        }
        let entries = try place.entries(known: Self.operationKeys)
        return CatalogueOperation(
            name: name,
            kind: try kind(entries, of: name, at: place),
            nameTemplate: try entries["name"].map(nameTemplate),
            groupTemplate: try entries["group"].map(groupTemplate),
            restsGroup: try restsGroup(entries),
            values: try JobValues(entries)
        )
    }

    private func restsGroup(_ entries: [String: CatalogueNode]) throws(CatalogueError) -> Bool {
        guard let value = entries["retry_after"] else { return false }
        guard entries["http"] != nil else { throw value.error("is for \"http\": a command returns no Retry-After") }
        switch try value.text("\"job\" or \"group\"") {
        case "job": return false
        case "group": return true
        default: throw value.error("must be \"job\" or \"group\": what waits when a server asks for a pause")
        }
    }

    private func kind(
        _ entries: [String: CatalogueNode],
        of operation: String,
        at place: CatalogueNode
    ) throws(CatalogueError) -> CatalogueOperation.Kind {
        let kinds = ["run", "http", "serve"].filter { entries[$0] != nil }
        guard kinds.count <= 1 else {
            throw place.error(
                "says \(kinds.map { "\"\($0)\"" }.joined(separator: " and ")); only one of them is allowed"
            )
        }
        if let serve = entries["serve"] {
            return .serve(ServedPool(operation, try ServedCommand(command(serve), entries)))
        }
        if let key = ServedCommand.keys.first(where: { entries[$0] != nil }), let value = entries[key] {
            throw value.error(
                "works only with \"serve\", which stands in place of \"run\" or \"http\"; leave it out here"
            )
        }
        if let run = entries["run"] { return .run(try command(run)) }
        if let http = entries["http"] { return .http(try CatalogueRequest(at: http)) }
        throw place.error("says neither \"run\" nor \"http\" nor \"serve\"; one of them is needed")
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

    private func template(_ value: CatalogueNode) throws(CatalogueError) -> Template {
        let text = try value.text()
        do {
            return try Template(text)
        } catch {
            throw value.error("\(error)")
        }
    }

    private func groupTemplate(_ value: CatalogueNode) throws(CatalogueError) -> Template {
        let group = try template(value)
        guard group.hasArguments || GroupName(group.source) != nil else {
            throw value.error("is not a group: \(GroupName.rule)")
        }
        return group
    }

    private func nameTemplate(_ value: CatalogueNode) throws(CatalogueError) -> Template {
        let name = try template(value)
        let most = DescriptionLimits.nameBytes
        guard name.literalBytes <= most, name.hasArguments || name.literalBytes > 0 else {
            throw value.error("has \(name.literalBytes) bytes besides arguments; a job's name has 1 to \(most) bytes")
        }
        return name
    }
}
