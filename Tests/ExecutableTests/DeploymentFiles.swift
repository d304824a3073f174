import Foundation
import TestSupport
import Yams

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Access to the files of `deploy` and to `docker-compose.yml`.
enum DeploymentFiles {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of a file of the tree.
    static func path(_ path: String) -> String { root.appending(path: path).path }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The documents of a YAML file.
    static func documents(_ path: String) throws -> [YAMLValue] { try documents(of: try text(path)) }

    static func documents(of yaml: String) throws -> [YAMLValue] {
        var sequence = try Yams.load_all(yaml: yaml)
        var documents: [YAMLValue] = []
        while let document = sequence.next() { documents.append(YAMLValue(document)) }
        // An error in a later document only ends the sequence.
        if let error = sequence.error { throw error }
        return documents
    }

    static func isInstalled(_ tool: String) -> Bool { access("/usr/bin/\(tool)", X_OK) == 0 }

    /// Runs a tool, and returns its output and exit status.
    static func run(_ words: [String], input: String = "") throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let (given, said) = (Pipe.forOneChild(), Pipe.forOneChild())
        (process.standardInput, process.standardOutput, process.standardError) = (given, said, said)
        try process.start()
        try said.fileHandleForWriting.close()
        try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try given.fileHandleForWriting.close()
        let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}

/// A value of a YAML file; a missing value is empty.
struct YAMLValue {
    let value: Any?

    init(_ value: Any?) { self.value = value }

    subscript(key: String) -> YAMLValue { members[key] ?? YAMLValue(nil) }

    var isThere: Bool { value != nil }
    var text: String? { value as? String }
    var number: Int? { value as? Int }
    var flag: Bool? { value as? Bool }
    var list: [YAMLValue]? { (value as? [Any])?.map { YAMLValue($0) } }
    var object: [String: YAMLValue]? { (value as? [String: Any])?.mapValues { YAMLValue($0) } }

    var items: [YAMLValue] { list ?? [] }
    var members: [String: YAMLValue] { object ?? [:] }
    /// The text members.
    var texts: [String: String] { members.compactMapValues(\.text) }
    /// The texts of a list, or a text alone.
    var words: [String] { text.map { [$0] } ?? items.compactMap(\.text) }
    /// A text, or a number as one.
    var word: String? { text ?? number.map { String($0) } }
}
