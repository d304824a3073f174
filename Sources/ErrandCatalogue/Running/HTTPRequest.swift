import Errand
import ErrandHTTP
import Foundation

/// The request for a job.
extension HTTPRequest {
    /// The prefix of the header fields that identify the job.
    static let factPrefix = "Errand-"

    /// Returns whether a header field is one that Errand sets, or may set in a later version.
    static func isReserved(_ name: String) -> Bool { name.lowercased().hasPrefix(factPrefix.lowercased()) }

    private static let factNames = [
        "JOB_ID": "Job-Id", "OPERATION": "Operation", "NAME": "Name", "QUEUE": "Queue", "ATTEMPT": "Attempt",
        "TOKEN": "Token", "DEADLINE_MS": "Deadline-Ms", "WORKFLOW": "Workflow", "WORKFLOW_KEY": "Workflow-Key",
    ]

    /// Makes the request of an operation for a job.
    ///
    /// - Throws: ``ArgumentError`` if the job's arguments do not fit the address.
    init(_ request: CatalogueRequest, job: JobFacts, userAgent: String) throws(ArgumentError) {
        let (url, authorization) = Self.splitCredentials(try request.address.url(job.arguments))
        self.init(method: request.method, url: url, body: request.method == "GET" ? nil : job.arguments.bytes)
        // An unreachable server must be reported as such, before the job's time runs out.
        let left = job.deadline.map { Double($0) / 1000 - Date().timeIntervalSince1970 } ?? 0
        if left > 0 { connectTimeout = min(connectTimeout, .seconds(left * 3 / 4)) }
        self[field: "User-Agent"] = userAgent
        if body != nil { self[field: "Content-Type"] = "application/json" }
        self[field: "Authorization"] = authorization
        for (name, value) in request.headers { self[field: name] = value }
        if let trace = job.trace { add(trace) }
        for (key, value) in job.named {
            guard let name = Self.factNames[key] else { continue }
            self[field: Self.factPrefix + name] = Self.headerText(value)
        }
    }

    /// Adds the trace unless the catalogue sets one itself: a state belongs to its parent.
    private mutating func add(_ trace: TraceContext) {
        guard ["traceparent", "tracestate"].allSatisfy({ self[field: $0] == nil }) else { return }
        for (name, value) in trace.fields { self[field: name] = value }
    }

    /// Moves user and password into a header, because the address may be shown elsewhere.
    private static func splitCredentials(_ url: URL) -> (URL, authorization: String?) {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let user = parts.user else {
            return (url, nil)
        }
        let credentials = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
        parts.user = nil
        parts.password = nil
        return (parts.url ?? url, "Basic \(credentials)")
    }

    /// Percent-encodes a job's name: it may be any text, but a header field is printable ASCII.
    private static func headerText(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
