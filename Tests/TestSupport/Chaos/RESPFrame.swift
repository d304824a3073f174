/// The end of a value in Redis' protocol. Requests are arrays of strings, so the same rule applies to both directions.
package enum RESPFrame {
    /// Returns the index after the value that begins at `start`; `nil` if the value is incomplete.
    package static func end(of bytes: [UInt8], from start: Int = 0) -> Int? {
        guard start < bytes.count, let line = lineEnd(in: bytes, from: start) else { return nil }
        let count = Int(String(decoding: bytes[(start + 1)..<(line - 2)], as: UTF8.self)) ?? 0
        switch bytes[start] {
        case UInt8(ascii: "$"):
            guard count >= 0 else { return line }
            return line + count + 2 <= bytes.count ? line + count + 2 : nil
        case UInt8(ascii: "*"):
            var position = line
            for _ in 0..<max(0, count) {
                guard let next = end(of: bytes, from: position) else { return nil }
                position = next
            }
            return position
        default:
            return line
        }
    }

    private static func lineEnd(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start + 1
        while index + 1 < bytes.count {
            if bytes[index] == 13, bytes[index + 1] == 10 { return index + 2 }
            index += 1
        }
        return nil
    }

    /// Returns the strings of a request.
    package static func words(of request: [UInt8]) -> [[UInt8]] {
        guard request.first == UInt8(ascii: "*"), var position = lineEnd(in: request, from: 0) else { return [] }
        var words: [[UInt8]] = []
        while position < request.count, let end = end(of: request, from: position) {
            guard let line = lineEnd(in: request, from: position), line <= end - 2 else { return words }
            words.append(Array(request[line..<(end - 2)]))
            position = end
        }
        return words
    }
}
