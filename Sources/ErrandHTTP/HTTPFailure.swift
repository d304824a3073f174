import CErrandCurl
import ErrandText
import Foundation

/// The reason why there is no usable response.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason, for people. It contains neither the URL nor any data that was sent.
    package let description: String
    /// Whether the request must not be repeated: either the server sent a response that is not valid HTTP, so it may
    /// have done the work, or the request can never be sent.
    package let isFinal: Bool

    init(_ description: String, isFinal: Bool = false) {
        self.description = description
        self.isFinal = isFinal
    }

    /// The connection ended before the response was complete.
    static let lost = HTTPFailure("the connection was lost")
    static let headTooLarge = answered("the head of the response is larger than 256 KiB")

    /// Makes the failure for an HTTP response that is ambiguous or not valid.
    static func unreadable(_ detail: String) -> HTTPFailure {
        answered("the response cannot be understood (\(detail))")
    }

    /// Makes the final failure for a response that does not show whether the server has done the work.
    static func answered(_ what: String) -> HTTPFailure {
        HTTPFailure("\(what); the work may have been done", isFinal: true)
    }

    /// Makes a failure from libcurl's error.
    ///
    /// - Parameters:
    ///   - code: libcurl's code.
    ///   - detail: libcurl's message.
    ///   - error: The `errno` of the failed system call, 0 if none failed.
    ///   - stage: The stage of the transfer.
    ///   - patience: The time limit of that stage.
    init(code: Int, detail: String, error: Int32, stage: HTTPStage, patience: Duration) {
        let wasConnected = stage == .connected
        switch code {
        case ERRAND_CURLE_COULDNT_RESOLVE_HOST:
            self.init("the server's name cannot be resolved; check it and this host's DNS")
        case ERRAND_CURLE_COULDNT_RESOLVE_PROXY:
            self.init("the proxy's name cannot be resolved; check it and this host's DNS")
        case ERRAND_CURLE_COULDNT_CONNECT where error == ECONNREFUSED: self.init("the connection was refused")
        case ERRAND_CURLE_COULDNT_CONNECT where error != 0:
            self.init("no connection: \(String(cString: strerror(error)))")
        case ERRAND_CURLE_OPERATION_TIMEDOUT:
            self.init("\(stage.silence) within \(TimeSpanText.exact(patience))")
        case ERRAND_CURLE_SSL_CONNECT_ERROR, ERRAND_CURLE_PEER_FAILED_VERIFICATION, ERRAND_CURLE_SSL_CACERT_BADFILE:
            let hint = detail.contains("wrong version number") ? "; the server may speak plain HTTP: write http://" : ""
            self.init("no secure connection (TLS) can be made (\(detail))\(hint)")
        case ERRAND_CURLE_RECV_ERROR where detail.contains("CONNECT"), ERRAND_CURLE_PROXY:
            self.init("the proxy made no connection (\(detail))")
        case ERRAND_CURLE_RECV_ERROR where detail.contains("chunk") || detail.contains("header"):
            self = .unreadable(detail)
        case ERRAND_CURLE_GOT_NOTHING, ERRAND_CURLE_PARTIAL_FILE, ERRAND_CURLE_SEND_ERROR, ERRAND_CURLE_RECV_ERROR,
            ERRAND_CURLE_SEND_FAIL_REWIND:
            self = .lost
        case ERRAND_CURLE_OUT_OF_MEMORY where wasConnected: self = .headTooLarge
        case ERRAND_CURLE_BAD_FUNCTION_ARGUMENT where wasConnected:
            self = .unreadable("one of its header lines is malformed")
        case ERRAND_CURLE_URL_MALFORMAT: self.init("the address is not a valid URL", isFinal: true)
        // After a connection was made, the remaining codes concern the response.
        default: self = wasConnected ? .unreadable(detail) : HTTPFailure(detail)
        }
    }
}
