import ErrandHTTP
import Foundation

extension CatalogueOutcome {
    /// What a web server's answer means for the job.
    ///
    /// The message names the server only: the rest of the address, the headers and the bodies may hold secrets.
    init(_ answer: HTTPAnswer, to request: HTTPRequest) {
        let call = "\(request.method) to \(request.url.server)"
        switch answer {
        case .cancelled: self = .stopped
        case .failed(let failure):
            self = .failed(
                "\(call) got no \(failure.isFinal ? "usable " : "")answer: \(failure)",
                final: failure.isFinal
            )
        case .answered(let head, let body) where head.isSuccess: self = .finished(result: body)
        case .answered(let head, _):
            let message = "\(call) was answered with status \(head.status)"
            self = .failed(
                message: (300..<400).contains(head.status) ? "\(message); \(Self.redirectAdvice)" : message,
                final: !Self.isWorthRetrying(head.status),
                retryAfter: [429, 503].contains(head.status)
                    ? RetryAfter.duration(head.retryAfter, date: head.date) : nil
            )
        }
    }

    private static let redirectAdvice = "redirects are not followed, so write the final address into the catalogue"

    private static func isWorthRetrying(_ status: Int) -> Bool {
        status == 408 || status == 429 || status >= 500
    }
}

extension URL {
    /// The host and the port, as the address has them.
    fileprivate var server: String {
        let host = host() ?? ""
        return (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "")
    }
}
