import ErrandText

/// The operations that producers may push and workers run, read from a YAML or JSON file.
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
    /// Most bytes of a file that is read as a catalogue.
    package static let mostBytes = 1 << 20

    /// The operations by name.
    package let operations: [String: CatalogueOperation]
    /// What recurs, sorted by name.
    package let schedules: [CatalogueSchedule]

    /// A catalogue of operations and schedules made in code.
    package init(operations: [CatalogueOperation], schedules: [CatalogueSchedule] = []) {
        self.operations = Dictionary(operations.map { ($0.name, $0) }) { _, last in last }
        self.schedules = schedules.sorted { $0.name < $1.name }
    }

    /// Reads a catalogue file.
    ///
    /// - Parameter path: The file, UTF-8, YAML or JSON.
    /// - Throws: ``CatalogueError`` if the file cannot be read or anything in it is not as it should be.
    package init(contentsOf path: String) throws(CatalogueError) {
        let bytes: [UInt8]
        do throws(TextFile.Problem) { bytes = try TextFile.read(path, atMost: Self.mostBytes) } catch {
            throw CatalogueError(source: path, reason: "\(error)" + (error.isTooLarge ? "; that is no catalogue" : ""))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CatalogueError(source: path, reason: "is not valid UTF-8; save it as UTF-8 text")
        }
        try self.init(yaml: text, source: path)
    }

    /// Reads a catalogue from text.
    ///
    /// - Parameters:
    ///   - yaml: YAML or JSON.
    ///   - source: What errors call the text: a file's path.
    /// - Throws: ``CatalogueError`` if anything in it is not as it should be.
    package init(yaml: String, source: String) throws(CatalogueError) {
        self = try CatalogueReader(source: source).catalogue(in: yaml)
    }

    /// The queues that the operations and schedules name, each once, in alphabetical order.
    package var queues: [String] {
        Set(operations.values.compactMap(\.queue) + schedules.compactMap(\.queue)).sorted()
    }
}
