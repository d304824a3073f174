import Errand
import Yams

extension CatalogueNode {
    private static let deepest = 60

    /// Returns the value as JSON text: plain `true`, `false`, `null` and numbers keep their type, all other scalars are
    /// text.
    ///
    /// - Parameter limit: The maximum size of the text in bytes, some MiB.
    func json(atMost limit: Int = DescriptionLimits.argumentsBytes) throws(CatalogueError) -> JSONText {
        var output: [UInt8] = []
        try appendJSON(to: &output, depth: 0, limit)
        do { return try JSONText(validating: output) } catch { throw self.error("\(error)") }
    }

    private func appendJSON(to output: inout [UInt8], depth: Int, _ limit: Int) throws(CatalogueError) {
        guard depth < Self.deepest else { throw error("is more than \(Self.deepest) levels deep; flatten it") }
        guard output.count < limit else {
            throw error("is too large here: at most \(limit >> 20) MiB of JSON in all is allowed")
        }
        switch node {
        case .scalar(let scalar): output += json(scalar).bytes
        case .sequence:
            output.append(UInt8(ascii: "["))
            for (index, value) in try values().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                try value.appendJSON(to: &output, depth: depth + 1, limit)
            }
            output.append(UInt8(ascii: "]"))
        case .mapping:
            output.append(UInt8(ascii: "{"))
            for (index, (name, value)) in try entries().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONEscaping.append(name, to: &output)
                output.append(UInt8(ascii: ":"))
                try value.appendJSON(to: &output, depth: depth + 1, limit)
            }
            output.append(UInt8(ascii: "}"))
        case .alias: throw error("is an alias; write the value itself")
        }
    }

    private func json(_ scalar: Node.Scalar) -> JSONText {
        if isNull { return .null }
        let value = scalar.style == .plain ? try? JSONText(validating: scalar.string.utf8) : nil
        return value ?? JSONText(stringLiteral: scalar.string)
    }
}
