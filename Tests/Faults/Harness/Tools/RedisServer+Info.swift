import TestSupport

extension RedisServer {
    /// A number of the server's INFO.
    func count(_ field: String, in section: String) throws -> Int {
        let lines = try run("INFO", section).split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix(field + ":") }
        guard let value = line?.dropFirst(field.count + 1), let number = Int(value) else {
            throw TestFailure("the server tells no \(field)")
        }
        return number
    }

    /// How often a command was called: `eval`, `client|kill`.
    func calls(_ command: String) throws -> Int {
        let lines = try run("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("cmdstat_\(command):") } ?? ""
        return line.split(separator: "=").dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    }
}

extension String {
    /// Without white space around it.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
