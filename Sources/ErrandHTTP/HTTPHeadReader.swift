import Foundation

/// A parser of a response's heads, line by line: those of interim responses (1xx), then the final one.
struct HTTPHeadReader {
    /// The limit of all heads together, so that a response cannot exhaust memory or last forever.
    private static let limit = 256 * 1024

    private var length = 0
    /// The status of the present head, once its first line is read.
    private var status: Int?
    private var fields: [HTTPHead.Field: [String]] = [:]
    /// The field of the previous line.
    private var last: HTTPHead.Field?
    /// The final head, once it is complete.
    private(set) var head: HTTPHead?

    /// Parses a line, including its line break. Lines after the head are trailers, which are ignored.
    ///
    /// - Parameter line: The line's bytes, in any encoding.
    /// - Throws: ``HTTPFailure`` if the head is not valid or too large.
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

    /// Marks the last field as ambiguous by an extra empty value. A space before the colon and a value that continues
    /// in the next line are parsed differently by versions of libcurl.
    private mutating func markUnclear() {
        if let last { fields[last, default: []].append("") }
    }

    private mutating func endHead(_ status: Int) {
        defer { (self.status, fields, last) = (nil, [:], nil) }
        // 101 is the last response in HTTP, and no request asks for another protocol.
        if (100..<200).contains(status), status != 101 { return }
        head = HTTPHead(status: status, fields: fields)
    }
}
