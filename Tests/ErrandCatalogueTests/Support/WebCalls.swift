import ErrandCatalogue

extension CatalogueRunner {
    /// What ``call(_:method:headers:arguments:)`` sends.
    static let arguments = Array(#"{"path":"a.jpg"}"#.utf8)

    /// Runs a job of an `http` operation with this address.
    func call(
        _ url: String,
        method: String = "POST",
        headers: [String: String] = [:],
        arguments: [UInt8] = CatalogueRunner.arguments
    ) async throws -> CatalogueOutcome {
        let request = CatalogueRequest(method: method, address: try WebAddress(url), headers: headers)
        let job = CatalogueJob(id: "j1", operation: "notify", arguments: arguments)
        return await run(CatalogueOperation(name: "notify", kind: .http(request)), job: job)
    }
}
