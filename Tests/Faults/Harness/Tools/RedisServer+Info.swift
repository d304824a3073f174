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

    /// The number of calls of a command: `eval`, `client|kill`.
    func calls(_ command: String) throws -> Int { try statistic("calls", of: command) }

    /// The number of rejected calls of a command, for example because of a missing permission.
    func rejections(of command: String) throws -> Int { try statistic("rejected_calls", of: command) }

    private func statistic(_ name: String, of command: String) throws -> Int {
        let lines = try run("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("cmdstat_\(command):") } ?? ""
        let fields = line.split { $0 == ":" || $0 == "," }
        let field = fields.first { $0.hasPrefix(name + "=") } ?? ""
        return Int(field.dropFirst(name.count + 1)) ?? 0
    }
}

extension String {
    /// The text without surrounding white space.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
