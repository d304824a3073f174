@testable import Errand
@testable import ErrandCatalogue

extension CatalogueRunner {
    /// What ``call(_:method:headers:arguments:)`` sends.
    static let arguments = Array(#"{"path":"a.jpg"}"#.utf8)

    /// Runs a job of an `http` operation with this address.
    func call(
        _ url: String,
        method: String = "POST",
        headers: [String: String] = [:],
        arguments: [UInt8] = CatalogueRunner.arguments
    ) async throws -> HandlerOutcome {
        let request = CatalogueRequest(method: method, address: try WebAddress(url), headers: headers)
        let job = JobFacts(id: "j1", operation: "notify", arguments: JSONText(unchecked: arguments))
        return await run(CatalogueOperation(name: "notify", kind: .http(request)), job: job)
    }
}
