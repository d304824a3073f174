package import Errand
import ErrandText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file with a workflow: JSON, or YAML with the same keys.
///
/// ```yaml
/// workflow: import 42
/// jobs:
///   fetch: {operation: fetch, arguments: {url: "https://example.org"}}
///   parse: {operation: parse, after: fetch}
/// ```
package enum WorkflowFile {
    /// The maximum size of a JSON file in bytes.
    package static let mostBytes = 128 << 20
    /// The maximum size of a YAML file, and of the JSON that is made from it, in bytes.
    package static let mostYAMLBytes = 16 << 20

    /// Changes the jobs of a workflow, for example by the defaults of their operations.
    package typealias Change = (OperationDescription) throws -> OperationDescription

    /// Reads a workflow from a file.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard input. A name that ends with `.json` means JSON; otherwise the text determines
    ///     the format.
    ///   - change: Is applied to each job.
    /// - Throws: ``WorkflowFileError`` if the file cannot be read or is invalid, or a job cannot be changed.
    package static func read(
        _ path: String,
        changing change: Change = { $0 }
    ) throws(WorkflowFileError) -> WorkflowDescription {
        let source = path == "-" ? "standard input" : path
        let bytes: [UInt8]
        do throws(TextFile.Problem) {
            bytes =
                try path == "-"
                ? TextFile.read(STDIN_FILENO, atMost: mostBytes) : TextFile.read(path, atMost: mostBytes)
        } catch { throw WorkflowFileError("\(source) \(error)") }
        return try parse(bytes, source: source, changing: change)
    }

    /// Reads a workflow from text without a byte order mark.
    ///
    /// - Parameters:
    ///   - bytes: JSON or YAML.
    ///   - source: The name of the text in errors, which determines the format if it ends with `.json`.
    ///   - change: Is applied to each job.
    package static func parse(
        _ bytes: [UInt8],
        source: String,
        changing change: Change = { $0 }
    ) throws(WorkflowFileError) -> WorkflowDescription {
        let isObject = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        let isNamedJSON = source.lowercased().hasSuffix(".json")
        guard isObject || isNamedJSON else { return try yaml(bytes, source, change) }
        do throws(WorkflowError) { return try WorkflowDescription(json: bytes).changingJobs(change) } catch {
            // YAML may begin with a brace as well, and be no JSON.
            if error.code == .malformedJSON, !isNamedJSON, (try? yaml(bytes, source, { $0 })) != nil {
                return try yaml(bytes, source, change)
            }
            throw WorkflowFileError("\(source)\(line(of: error, in: bytes, source)): \(error.explanation(in: bytes))")
        }
    }

    /// Returns the line of an error in JSON behind a colon. What is wrong with the whole has no offset, and is found by its
    /// path: JSON is YAML, too.
    private static func line(of error: WorkflowError, in bytes: [UInt8], _ source: String) -> String {
        guard bytes.contains(UInt8(ascii: "\n")), bytes.count <= mostYAMLBytes else { return "" }
        if let offset = error.offset {
            return ":\(1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") })"
        }
        let root = try? CatalogueNode(yaml: String(decoding: bytes, as: UTF8.self), source: source, needed: "")
        return root?.line(of: error.place).map { ":\($0)" } ?? ""
    }

    private static func yaml(
        _ bytes: [UInt8],
        _ source: String,
        _ change: Change
    ) throws(WorkflowFileError) -> WorkflowDescription {
        guard bytes.count <= mostYAMLBytes else {
            throw WorkflowFileError("\(source) is larger than \(mostYAMLBytes >> 20) MiB; write it as JSON")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WorkflowFileError("\(source) is not valid UTF-8; save it as UTF-8 text")
        }
        let root: CatalogueNode
        let json: JSONText
        do throws(CatalogueError) {
            root = try CatalogueNode(yaml: text, source: source, needed: "the keys \"workflow\" and \"jobs\"")
            json = try root.json(atMost: mostYAMLBytes)
        } catch { throw WorkflowFileError("\(error)") }
        do throws(WorkflowError) { return try WorkflowDescription(json: json.bytes).changingJobs(change) } catch {
            let line = root.line(of: error.place).map { ":\($0)" } ?? ""
            throw WorkflowFileError("\(source)\(line): \(error.withoutOffset)")
        }
    }
}

/// The error for a workflow's file that cannot be read or is invalid: the file, the line if known, what is wrong, and what
/// to do.
package struct WorkflowFileError: Error, CustomStringConvertible {
    /// The description, on one line and of limited length, whatever the file contains.
    package let description: String

    init(_ description: String) { self.description = description.printable.shortened(to: 1000) }
}
