import CErrandCurl
import Foundation

typealias CurlHandle = UnsafeMutableRawPointer

/// libcurl's handle of one transfer, set up for a request.
final class HTTPEasyHandle {
    let handle: CurlHandle
    private var lines: UnsafeMutablePointer<curl_slist>?
    private let message: UnsafeMutablePointer<CChar>
    private let connectTimeout: Duration
    private let timeout: Duration?
    private let isSecure: Bool

    /// Sets up a handle whose callbacks get `context`, an ``HTTPTransfer``; `nil` if there is no memory for it.
    init?(_ request: HTTPRequest, context: UnsafeMutableRawPointer) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        (connectTimeout, timeout) = (request.connectTimeout, request.timeout)
        isSecure = request.url.scheme?.lowercased() == "https"
        message = .allocate(capacity: Int(ERRAND_CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(ERRAND_CURL_ERROR_SIZE))
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_ERRORBUFFER), message)
        setRules()
        setCallbacks(context)
        set(request)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(lines)
        message.deallocate()
    }

    /// Why the transfer has failed.
    func failure(_ code: Int) -> HTTPFailure {
        let detail = String(cString: message)
        return HTTPFailure(
            code: code,
            detail: detail.isEmpty ? String(cString: curl_easy_strerror(Int32(code))) : detail,
            error: Int32(truncatingIfNeeded: errand_curl_number(handle, Int32(ERRAND_CURL_OS_ERRNO))),
            stage: stage,
            patience: stage == .connected ? timeout ?? connectTimeout : min(connectTimeout, timeout ?? connectTimeout)
        )
    }

    private var stage: HTTPStage {
        if errand_curl_time(handle, Int32(ERRAND_CURL_PRETRANSFER_TIME_T)) > 0 { return .connected }
        return isSecure ? .securing : .connecting
    }

    /// libcurl follows no redirects, keeps no cookies, and neither asks for compressed bodies nor unpacks them unless it is
    /// told to. It verifies certificates by the system's roots, and takes its proxies from the environment.
    private func setRules() {
        let httpOrHTTPS = 3
        let version1_1 = 2
        set(ERRAND_CURL_PROTOCOLS, httpOrHTTPS)
        set(ERRAND_CURL_HTTP_VERSION, version1_1)
        set(ERRAND_CURL_PATH_AS_IS, 1)
        set(ERRAND_CURL_SUPPRESS_CONNECT_HEADERS, 1)
        // HTTP/1.1 does not say to which request an answer belongs. What a server sends on an idle connection (a late
        // answer, a 408, its close) would be taken for the answer to the next request, and between a look at the
        // connection and the request it can still come. So each request has a connection of its own.
        set(ERRAND_CURL_FRESH_CONNECT, 1)
        set(ERRAND_CURL_FORBID_REUSE, 1)
        append("Connection: close")
        append("Proxy-Connection:")
        // The reader of the head decides where the body ends, and names what is not HTTP.
        set(ERRAND_CURL_IGNORE_CONTENT_LENGTH, 1)
        set(ERRAND_CURL_HTTP09_ALLOWED, 1)
        // A program that the process starts would keep the connection open after its end here, and could read from it.
        errand_curl_set_close_on_exec(handle)
        set(ERRAND_CURL_NOSIGNAL, 1)
        // A cancelled transfer does not wait for the name server; the others would wait with it.
        set(ERRAND_CURL_QUICK_EXIT, 1)
    }

    private func setCallbacks(_ context: UnsafeMutableRawPointer) {
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_READDATA), context)
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_HEADERDATA), context)
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_WRITEDATA), context)
        errand_curl_set_callback(handle, Int32(ERRAND_CURL_READFUNCTION)) { bytes, size, count, context in
            guard let transfer = HTTPTransfer.from(context) else { return 0 }
            return transfer.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        errand_curl_set_callback(handle, Int32(ERRAND_CURL_HEADERFUNCTION)) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return HTTPTransfer.from(context)?.receive(line: line) ?? false ? line.count : 0
        }
        errand_curl_set_callback(handle, Int32(ERRAND_CURL_WRITEFUNCTION)) { bytes, size, count, context in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return HTTPTransfer.from(context)?.receive(piece) ?? false ? piece.count : 0
        }
    }

    private func set(_ request: HTTPRequest) {
        errand_curl_set_text(handle, Int32(ERRAND_CURL_URL), request.url.absoluteString)
        set(ERRAND_CURL_CONNECTTIMEOUT_MS, request.connectTimeout.milliseconds)
        if let timeout = request.timeout { set(ERRAND_CURL_TIMEOUT_MS, timeout.milliseconds) }
        if let body = request.body {
            set(ERRAND_CURL_POST, 1)
            errand_curl_set_size(handle, Int32(ERRAND_CURL_POSTFIELDSIZE_LARGE), Int64(body.count))
            // No pause for a `100 Continue`; and a content type is only what the request says.
            append("Expect:")
            if request[field: "Content-Type"] == nil { append("Content-Type:") }
        }
        errand_curl_set_text(handle, Int32(ERRAND_CURL_CUSTOMREQUEST), request.method)
        // A semicolon stands for an empty value; with a colon, libcurl would leave the field out.
        for (name, value) in request.fields {
            append(value.allSatisfy(\.isWhitespace) ? "\(name);" : "\(name): \(value)")
        }
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_HTTPHEADER), lines)
    }

    private func append(_ line: String) {
        // `nil` if there is no memory, and the list is as it was.
        lines = curl_slist_append(lines, line) ?? lines
    }

    private func set(_ option: Int, _ value: Int) {
        errand_curl_set_number(handle, Int32(option), value)
    }
}

extension HTTPTransfer {
    fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
        context.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Duration {
    /// At least 1: 0 is no limit to libcurl.
    fileprivate var milliseconds: Int { Int(min(max(self / .milliseconds(1), 1), 1e9)) }
}
