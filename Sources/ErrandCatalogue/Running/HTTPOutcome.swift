import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension CatalogueOutcome {
    /// What a web server's answer means for the job.
    ///
    /// The message names the server only: the rest of the address, the headers and the bodies may hold secrets.
    init(_ answer: HTTPAnswer, to request: CatalogueRequest) {
        let server = "\(request.url.host() ?? "")\(request.url.port.map { ":\($0)" } ?? "")"
        switch answer {
        case .cancelled: self = .stopped
        case .failed(let code):
            self = .failed("\(request.method) to \(server) got no answer: \(Self.explain(code))")
        case .answered(let response, let body) where (200..<300).contains(response.statusCode):
            self = .finished(result: body)
        case .answered(let response, _):
            let status = response.statusCode
            let message = "\(request.method) to \(server) was answered with status \(status)"
            self = .failed(
                message: (300..<400).contains(status) ? "\(message); \(Self.redirectAdvice)" : message,
                final: !Self.isWorthRetrying(status),
                retryAfter: [429, 503].contains(status) ? Self.retryAfter(response) : nil
            )
        }
    }

    private static func retryAfter(_ response: HTTPURLResponse) -> Duration? {
        RetryAfter.duration(
            response.value(forHTTPHeaderField: "Retry-After"),
            date: response.value(forHTTPHeaderField: "Date")
        )
    }

    private static let redirectAdvice = "redirects are not followed, so write the final address into the catalogue"

    private static func isWorthRetrying(_ status: Int) -> Bool {
        status == 408 || status == 429 || status >= 500
    }

    private static func explain(_ code: URLError.Code) -> String {
        switch code {
        case .timedOut: "the time is over"
        case .cannotFindHost, .dnsLookupFailed: "the server's name is not known"
        case .cannotConnectToHost: "the connection was refused"
        case .networkConnectionLost: "the connection was lost"
        case .badServerResponse, .cannotParseResponse: "what came back is not HTTP"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot:
            "the connection is not secure"
        case .httpTooManyRedirects: "too many redirects"
        default: "error \(code.rawValue)"
        }
    }
}
