import Errand
import ErrandHTTP
import Foundation

extension HandlerOutcome {
    /// Makes the outcome of a job from a web server's response.
    ///
    /// The message contains only the server: the rest of the address, the headers and the bodies may contain secrets.
    init(_ answer: HTTPAnswer, to request: HTTPRequest, restsGroup: Bool = false) {
        let call = "\(request.method) to \(request.url.server)"
        switch answer {
        case .cancelled: self = .failed("stopped")
        case .failed(let failure):
            self = .failed(
                "\(call) got no \(failure.isFinal ? "usable " : "")response: \(failure)",
                isFinal: failure.isFinal
            )
        case .answered(let head, let body) where head.isSuccess: self = .finished(result: body)
        case .answered(let head, _):
            let message = "\(call) returned status \(head.status)"
            let pause =
                [429, 503].contains(head.status) ? RetryAfter.duration(head.retryAfter, date: head.date) : nil
            if restsGroup, let pause, pause > .zero {
                self = .groupRests(pause, message)
                return
            }
            self = .failed(
                Self.advice(on: head.status).map { "\(message); \($0)" } ?? message,
                isFinal: !Self.isWorthRetrying(head.status),
                retryAfter: pause
            )
        }
    }

    /// Returns advice on a status that is never a success here.
    private static func advice(on status: Int) -> String? {
        switch status {
        case 301, 302, 303, 307, 308: "redirects are not followed, so write the final address into the catalogue"
        case 304: "the request is conditional, so leave headers such as If-None-Match out of the catalogue"
        default: nil
        }
    }

    private static func isWorthRetrying(_ status: Int) -> Bool {
        status == 408 || status == 429 || status >= 500
    }
}

extension URL {
    /// The host and the port of the address.
    fileprivate var server: String {
        let host = host() ?? ""
        return (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "")
    }
}
