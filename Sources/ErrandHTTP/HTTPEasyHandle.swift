import CErrandCurl
import Foundation

typealias CurlHandle = UnsafeMutableRawPointer

/// libcurl's easy handle of one transfer, configured for a request.
final class HTTPEasyHandle {
    let handle: CurlHandle
    private var lines: UnsafeMutablePointer<curl_slist>?
    private let message: UnsafeMutablePointer<CChar>
    private let connectTimeout: Duration
    private let timeout: Duration?
    private let isSecure: Bool

    /// Makes a handle whose callbacks receive `context`, an ``HTTPTransfer``; `nil` if memory is exhausted.
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

    /// Returns the reason why the transfer failed.
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

    /// Sets options that differ from libcurl's defaults. By default, libcurl follows no redirects, keeps no cookies,
    /// requests and decodes no compressed bodies, verifies certificates with the system's roots, and reads proxies from
    /// the environment.
    private func setRules() {
        let httpOrHTTPS = 3
        let version1_1 = 2
        set(ERRAND_CURL_PROTOCOLS, httpOrHTTPS)
        set(ERRAND_CURL_HTTP_VERSION, version1_1)
        set(ERRAND_CURL_PATH_AS_IS, 1)
        set(ERRAND_CURL_SUPPRESS_CONNECT_HEADERS, 1)
        // HTTP/1.1 does not link a response to its request. Data on an idle connection (a late response, a 408, a
        // close) would be taken for the response to the next request, even if it arrives after a check of the
        // connection. So each request has its own connection.
        set(ERRAND_CURL_FRESH_CONNECT, 1)
        set(ERRAND_CURL_FORBID_REUSE, 1)
        append("Connection: close")
        append("Proxy-Connection:")
        // HTTPHeadReader and HTTPBodyLength find the end of the body and recognize other protocols.
        set(ERRAND_CURL_IGNORE_CONTENT_LENGTH, 1)
        set(ERRAND_CURL_HTTP09_ALLOWED, 1)
        // A child process would otherwise inherit the connection: it could read from it and keep it open.
        errand_curl_set_close_on_exec(handle)
        set(ERRAND_CURL_NOSIGNAL, 1)
        // A cancelled transfer must not wait for the name server, because all others would wait with it.
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
            // Disables the pause for a `100 Continue` and libcurl's default content type.
            append("Expect:")
            if request[field: "Content-Type"] == nil { append("Content-Type:") }
        }
        errand_curl_set_text(handle, Int32(ERRAND_CURL_CUSTOMREQUEST), request.method)
        // libcurl drops a field with an empty value after a colon; a semicolon sends it.
        for (name, value) in request.fields {
            append(value.allSatisfy(\.isWhitespace) ? "\(name);" : "\(name): \(value)")
        }
        errand_curl_set_pointer(handle, Int32(ERRAND_CURL_HTTPHEADER), lines)
    }

    private func append(_ line: String) {
        // The result is `nil` if memory is exhausted, and the list is unchanged.
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
    /// At least 1, because 0 means no limit to libcurl.
    fileprivate var milliseconds: Int { Int(min(max(self / .milliseconds(1), 1), 1e9)) }
}
