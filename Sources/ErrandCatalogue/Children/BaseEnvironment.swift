import CErrandChild
import ErrandText
import Foundation

/// The worker's environment for children: without variables of Errand that may contain a password.
struct BaseEnvironment {
    private static let usualPath = "/usr/local/bin:/usr/bin:/bin"

    /// The variables as bytes, because they need not be UTF-8.
    private let entries: [(key: String, text: [CChar])]
    /// The PATH for commands.
    let searchPath: String

    /// Copies the current environment. Later changes have no effect; a program with threads makes none.
    init() {
        var entries: [(key: String, text: [CChar])] = []
        var next = errand_child_environment()
        while let place = next, let variable = place.pointee {
            let text = Array(UnsafeBufferPointer(start: variable, count: strlen(variable)))
            let key = text.prefix { $0 != CChar(UInt8(ascii: "=")) }.map(UInt8.init(bitPattern:))
            entries.append((String(decoding: key, as: UTF8.self), text))
            next = place + 1
        }
        self.entries = entries.filter { !SecretVariables.names.contains($0.key) }
        let path = entries.first { $0.key == "PATH" }?.text.dropFirst(5).map(UInt8.init(bitPattern:))
        self.searchPath = path.map { String(decoding: $0, as: UTF8.self) } ?? Self.usualPath
    }

    /// Returns the environment with some variables added or replaced.
    func adding(_ variables: [String: String]) -> CStringVector {
        var vector = CStringVector()
        var replaced = Set(variables.keys)
        // The trace state of the worker is meaningless in the trace of a job.
        if replaced.contains("TRACEPARENT") { replaced.insert("TRACESTATE") }
        for entry in entries where !replaced.contains(entry.key) { vector.append(entry.text) }
        for (key, value) in variables { vector.append("\(key)=\(value)") }
        return vector
    }

    /// Returns the files that a command's name may refer to, in the order in which they are tried.
    func files(for command: String) -> CStringVector {
        var vector = CStringVector()
        if command.contains("/") {
            vector.append(command)
        } else {
            for folder in searchPath.split(separator: ":") { vector.append("\(folder)/\(command)") }
        }
        return vector
    }
}
