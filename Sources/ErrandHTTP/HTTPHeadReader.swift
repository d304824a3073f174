import Foundation

/// Reads the heads of an answer line by line: those of interim answers (1xx), then the one that counts.
struct HTTPHeadReader {
    /// All heads together: no end of lines may fill the memory, or take for ever.
    private static let limit = 256 * 1024

    private var length = 0
    /// The status of the head that has begun.
    private var status: Int?
    private var fields: [HTTPHead.Field: [String]] = [:]
    /// The field of the line before.
    private var last: HTTPHead.Field?
    /// The head, once it is there.
    private(set) var head: HTTPHead?

    /// Takes a line with its end. What follows the head is a trailer, which is of no use.
    ///
    /// - Parameter line: The line's bytes, in whatever encoding.
    /// - Throws: ``HTTPFailure`` if the answer is of no use.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) {
        length += line.count
        guard length <= Self.limit else { throw .headTooLarge }
        guard head == nil else { return }
        if let status {
            receive(line, status)
        } else {
            status = try HTTPHead.status(line)
        }
    }

    private mutating func receive(_ line: UnsafeRawBufferPointer, _ status: Int) {
        if line.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
            endHead(status)
        } else {
            keepField(String(decoding: line, as: UTF8.self))
        }
    }

    private mutating func keepField(_ line: String) {
        if line.first == " " || line.first == "\t" { return markUnclear() }
        last = nil
        guard let colon = line.firstIndex(of: ":") else { return }
        let name = line[..<colon].lowercased()
        let trimmed = name.trimmingCharacters(in: .whitespaces)
        guard let field = HTTPHead.Field(rawValue: trimmed) else { return }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
        fields[field, default: []].append(value)
        last = field
        if name != trimmed { markUnclear() }
    }

    /// A space before the colon, or a value that goes on in the next line: libcurl reads these in one way or another, by its
    /// version. With an empty value more, the field is not relied on where that matters.
    private mutating func markUnclear() {
        if let last { fields[last, default: []].append("") }
    }

    private mutating func endHead(_ status: Int) {
        defer { (self.status, fields, last) = (nil, [:], nil) }
        // 101 is the last answer in HTTP; nobody asked for another protocol.
        if (100..<200).contains(status), status != 101 { return }
        head = HTTPHead(status: status, fields: fields)
    }
}
