import Foundation

/// The outcome of a request.
package enum HTTPAnswer: Sendable {
    /// A response, with the beginning of its body if that was requested.
    case answered(HTTPHead, body: [UInt8])
    case failed(HTTPFailure)
    case cancelled
}

/// The head of a response.
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

    /// The `Retry-After` field, as the server wrote it.
    package var retryAfter: String? { fields[.retryAfter]?.last }
    /// The `Date` field: the time of the server's clock.
    package var date: String? { fields[.date]?.last }

    /// Whether the status is 2xx.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// Returns the values of a list field, which may be separated by commas, in several lines, or both.
    func values(of field: Field) -> [String] {
        (fields[field] ?? []).flatMap { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// The part of a response to read.
package enum HTTPAnswerEnd: Sendable {
    /// The head only. If the body does not arrive together with it, the connection is closed.
    case head
    /// The whole body if the status is 2xx, else the head. The first `kept` bytes of the body are kept; the rest is
    /// discarded. After 1 MiB the connection is closed.
    case body(kept: Int)
}
