extension ServedCommand {
    /// The keys beside `serve`.
    static let keys = ["instances", "restart", "checkpoints"]
    private static let mostMegabytes: Int64 = 1_048_576

    /// Reads the values of a `serve` operation.
    init(_ templates: [Template], _ entries: [String: CatalogueNode]) throws(CatalogueError) {
        if let serve = entries["serve"], templates.contains(where: \.hasArguments) {
            throw serve.error(
                "may contain no {argument}: the command starts before there is a job, and gets each job as a line"
            )
        }
        self.init(arguments: templates.map(\.literal))
        if let value = entries["instances"] { instances = try value.number(in: 1...1000) }
        if let value = entries["checkpoints"] { readsCheckpoints = try value.boolean() }
        guard let restart = entries["restart"] else { return }
        let parts = try restart.entries(known: ["jobs", "memory_mb"])
        mostJobs = try parts["jobs"]?.number(in: 1...1_000_000_000)
        if let value = parts["memory_mb"] { mostMemory = try value.number(in: 1...Self.mostMegabytes) * 1_048_576 }
    }
}
