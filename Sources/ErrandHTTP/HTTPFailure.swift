import CErrandCurl
import ErrandText
import Foundation

/// Why there is no answer.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, for people. It names neither the address nor anything that was sent.
    package let description: String
    /// Whether the request must not be sent again: the server answered, so it may have done the work, but what it
    /// answered is not HTTP; or the request can never be sent.
    package let isFinal: Bool

    init(_ description: String, isFinal: Bool = false) {
        self.description = description
        self.isFinal = isFinal
    }

    /// The connection ended before the answer did.
    static let lost = HTTPFailure("the connection was lost")
    static let headTooLarge = answered("the head of the answer is larger than 256 KiB")

    /// The answer is HTTP, but it is not clear what it says.
    static func unreadable(_ detail: String) -> HTTPFailure { answered("the answer cannot be understood (\(detail))") }

    /// The server has answered, but not in a way that says what it has done.
    static func answered(_ what: String) -> HTTPFailure {
        HTTPFailure("\(what); the work may have been done", isFinal: true)
    }

    /// Names what libcurl reports.
    ///
    /// - Parameters:
    ///   - code: libcurl's code.
    ///   - detail: What libcurl says about it.
    ///   - error: The number of the system call's error, 0 if none failed.
    ///   - stage: How far it had come.
    ///   - patience: How long that stage was waited for at most.
    init(code: Int, detail: String, error: Int32, stage: HTTPStage, patience: Duration) {
        let wasConnected = stage == .connected
        switch code {
        case ERRAND_CURLE_COULDNT_RESOLVE_HOST: self.init("the server's name is not known")
        case ERRAND_CURLE_COULDNT_RESOLVE_PROXY: self.init("the proxy's name is not known")
        case ERRAND_CURLE_COULDNT_CONNECT where error == ECONNREFUSED: self.init("the connection was refused")
        case ERRAND_CURLE_COULDNT_CONNECT where error != 0:
            self.init("no connection: \(String(cString: strerror(error)))")
        case ERRAND_CURLE_OPERATION_TIMEDOUT:
            self.init("\(stage.silence) within \(TimeSpanText.exact(patience))")
        case ERRAND_CURLE_SSL_CONNECT_ERROR, ERRAND_CURLE_PEER_FAILED_VERIFICATION, ERRAND_CURLE_SSL_CACERT_BADFILE:
            self.init("the connection is not secure (\(detail))")
        case ERRAND_CURLE_RECV_ERROR where detail.contains("CONNECT"), ERRAND_CURLE_PROXY:
            self.init("the proxy made no connection (\(detail))")
        case ERRAND_CURLE_RECV_ERROR where detail.contains("chunk") || detail.contains("header"):
            self = .unreadable(detail)
        case ERRAND_CURLE_GOT_NOTHING, ERRAND_CURLE_PARTIAL_FILE, ERRAND_CURLE_SEND_ERROR, ERRAND_CURLE_RECV_ERROR,
            ERRAND_CURLE_SEND_FAIL_REWIND:
            self = .lost
        case ERRAND_CURLE_OUT_OF_MEMORY where wasConnected: self = .headTooLarge
        case ERRAND_CURLE_BAD_FUNCTION_ARGUMENT where wasConnected: self = .unreadable("a field of its head is none")
        case ERRAND_CURLE_URL_MALFORMAT: self.init("the address is not one", isFinal: true)
        // What is left is about the answer, if there was a connection.
        default: self = wasConnected ? .unreadable(detail) : HTTPFailure(detail)
        }
    }
}
