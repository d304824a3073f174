import Foundation

/// What came of a request.
package enum HTTPAnswer: Sendable {
    /// An answer, with the beginning of its body if that was asked for.
    case answered(HTTPHead, body: [UInt8])
    case failed(HTTPFailure)
    case cancelled
}

/// The head of an answer.
package struct HTTPHead: Sendable {
    /// The fields that are kept, by their names in lower case.
    enum Field: String {
        case date
        case retryAfter = "retry-after"
        case contentLength = "content-length"
        case transferEncoding = "transfer-encoding"
    }

    /// The status, usually 200 to 599.
    package let status: Int
    let fields: [Field: [String]]

    /// When to try again, as the server wrote it.
    package var retryAfter: String? { fields[.retryAfter]?.last }
    /// The server's clock.
    package var date: String? { fields[.date]?.last }

    /// Whether the server says that it has done what was asked.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// The values of a field that is a list: in one line with commas, in several, or both.
    func values(of field: Field) -> [String] {
        (fields[field] ?? []).flatMap { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// How much of an answer is read.
package enum HTTPAnswerEnd: Sendable {
    /// Its head. The connection is closed if the body does not come with it.
    case head
    /// The end of the body if the status is 2xx, else the head. So many of the body's first bytes are kept; what follows
    /// is read and thrown away up to 1 MiB, where the connection is closed.
    case body(kept: Int)
}
