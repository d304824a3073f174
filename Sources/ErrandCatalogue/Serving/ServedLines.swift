/// Splits what a child writes into lines.
struct ServedLines {
    /// The maximum size of a line, which no honest child reaches: a checkpoint and a result have at most 64 KiB.
    static let mostBytes = 2 * 1024 * 1024

    private var unfinished: [UInt8] = []

    /// Adds bytes, and calls `body` with each line that they complete, without its line feed.
    ///
    /// - Returns: `false` if a line is too long.
    mutating func add(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) -> Bool {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = unfinished + rest[..<end]
            unfinished = []
            rest = rest[(end + 1)...]
            if line.count > Self.mostBytes { return false }
            body(line)
        }
        unfinished += rest
        guard unfinished.count > Self.mostBytes else { return true }
        unfinished = []
        return false
    }
}
