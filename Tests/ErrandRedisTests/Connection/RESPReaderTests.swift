import ErrandRedis
import Testing

@Suite("Replies of the Redis protocol")
struct RESPReaderTests {
    private static let text =
        "*7\r\n+OK\r\n$0\r\n\r\n$-1\r\n*0\r\n*3\r\n:-7\r\n*-1\r\n*1\r\n$4\r\na\r\nb\r\n-ERR no\r\n*1\r\n*1\r\n:1\r\n"
    private static let value = RESPValue.array([
        .status("OK"), .bulk([]), .null, .array([]),
        .array([.integer(-7), .null, .array([.bulk(Array("a\r\nb".utf8))])]),
        .error("ERR no"), .array([.array([.integer(1)])]),
    ])

    /// Returns the replies in a text that arrives in portions of this size.
    private func replies(in text: String, portion: Int) throws -> [RESPValue] {
        guard var reader = RESPReader() else { throw BrokerMemory() }
        let bytes = Array(text.utf8)
        return try stride(from: 0, to: bytes.count, by: portion).reduce(into: []) { replies, start in
            replies += try reader.feed(Array(bytes[start..<min(start + portion, bytes.count)]))
        }
    }

    private struct BrokerMemory: Error {}

    @Test(
        "arrays in arrays, empty ones and missing values are read as they were sent, in whatever portions they arrive",
        arguments: [1, 2, 7, 1000]
    )
    func nested(portion: Int) throws {
        let sent = Self.text + ":5\r\n" + Self.text + "$-1\r\n"
        #expect(try replies(in: sent, portion: portion) == [Self.value, .integer(5), Self.value, .null])
    }
}
