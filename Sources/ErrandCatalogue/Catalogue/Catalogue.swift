import ErrandText

/// The operations that producers may push and workers run, and the schedules, parsed from a YAML or JSON file.
///
/// ```yaml
/// operations:
///   checksum:
///     run: [sha256sum, --, "{path}"]
///     name: "checksum {path}"
///     unique: drop
///     timeout: 30s
/// ```
package struct Catalogue: Sendable {
    /// The maximum size of a catalogue file in bytes.
    package static let mostBytes = 1 << 20

    /// The operations by name.
    package let operations: [String: CatalogueOperation]
    /// The schedules, sorted by name.
    package let schedules: [CatalogueSchedule]

    /// Makes a catalogue of operations and schedules.
    package init(operations: [CatalogueOperation], schedules: [CatalogueSchedule] = []) {
        self.operations = Dictionary(operations.map { ($0.name, $0) }) { _, last in last }
        self.schedules = schedules.sorted { $0.name < $1.name }
    }

    /// Reads and parses a catalogue file.
    ///
    /// - Parameter path: The file, UTF-8, YAML or JSON.
    /// - Throws: ``CatalogueError`` if the file cannot be read or is invalid.
    package init(contentsOf path: String) throws(CatalogueError) {
        let bytes: [UInt8]
        do throws(TextFile.Problem) { bytes = try TextFile.read(path, atMost: Self.mostBytes) } catch {
            let limit = error.isTooLarge ? ", the most that a catalogue may have" : ""
            throw CatalogueError(source: path, reason: "\(error)\(limit)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CatalogueError(source: path, reason: "is not valid UTF-8; save it as UTF-8 text")
        }
        try self.init(yaml: text, source: path)
    }

    /// Parses a catalogue from text.
    ///
    /// - Parameters:
    ///   - yaml: YAML or JSON.
    ///   - source: The name of the text in errors: a file's path.
    /// - Throws: ``CatalogueError`` if the text is invalid.
    package init(yaml: String, source: String) throws(CatalogueError) {
        self = try CatalogueReader(source: source).catalogue(in: yaml)
    }

    /// Returns the operation whose name is nearest to a mistyped one, if there is one.
    package func nearestOperation(to name: String) -> String? {
        Spelling.nearest(to: name, among: operations.keys.sorted())
    }

    /// The queues of the operations and schedules, each once, in alphabetical order.
    package var queues: [String] {
        Set(operations.values.compactMap(\.values.queue) + schedules.compactMap(\.values.queue)).sorted()
    }
}
