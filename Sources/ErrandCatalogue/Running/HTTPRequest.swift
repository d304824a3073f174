import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is sent for a job.
enum HTTPRequest {
    private static let factNames = [
        "JOB_ID": "Job-Id", "OPERATION": "Operation", "NAME": "Name", "QUEUE": "Queue", "ATTEMPT": "Attempt",
        "TOKEN": "Token", "DEADLINE_MS": "Deadline-Ms",
    ]

    /// The request of an operation for a job.
    static func make(_ request: CatalogueRequest, job: CatalogueJob, timeout: TimeInterval) -> URLRequest {
        let (url, authorization) = splitCredentials(request.url)
        var made = URLRequest(url: url)
        made.httpMethod = request.method
        made.timeoutInterval = timeout
        if request.method != "GET" {
            made.httpBody = Data(job.arguments)
            made.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let authorization { made.setValue(authorization, forHTTPHeaderField: "Authorization") }
        for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
        if let trace = job.trace { add(trace, to: &made) }
        for (key, value) in job.facts {
            guard let name = factNames[key] else { continue }
            made.setValue(headerText(value), forHTTPHeaderField: "Errand-\(name)")
        }
        return made
    }

    /// A catalogue that names a trace of its own keeps it whole: a state belongs to its parent.
    private static func add(_ trace: TraceContext, to made: inout URLRequest) {
        let names = ["traceparent", "tracestate"]
        guard names.allSatisfy({ made.value(forHTTPHeaderField: $0) == nil }) else { return }
        for (name, value) in trace.fields { made.setValue(value, forHTTPHeaderField: name) }
    }

    /// A user and a password belong into a header, not into an address that may show up somewhere.
    private static func splitCredentials(_ url: URL) -> (URL, authorization: String?) {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let user = parts.user else {
            return (url, nil)
        }
        let credentials = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
        parts.user = nil
        parts.password = nil
        return (parts.url ?? url, "Basic \(credentials)")
    }

    /// A job's name is any text; a header field is printable ASCII. The rest is percent-encoded.
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
