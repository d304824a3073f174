import Errand

/// The operations of the demo's workers.
enum DemoOperations {
    /// The queue of all jobs of the demo.
    static let queue = "demo"
    /// The timeout of a `stuck` job.
    static let stuckTimeout = Duration.seconds(1)

    struct ChecksumArguments: Codable { let path: String }

    /// Returns the operations: `checksum` computes a file's SHA-256 and size; `stuck` never ends by itself.
    ///
    /// - Parameter corrupted: A file with a wrong checksum, to show that the demo detects it.
    static func registered(corrupting corrupted: String?) -> [RegisteredOperation] {
        [
            RegisteredOperation(
                "checksum",
                handler: .blocking { job in
                    let path = try job.arguments.decode(ChecksumArguments.self).path
                    let sum = try FileSum.compute(of: path, isCancelled: { job.isCancelled })
                    return .finished(
                        result: path == corrupted ? FileSum(sha256: sum.sha256, size: sum.size + 1).json : sum.json
                    )
                }
            ),
            RegisteredOperation(
                "stuck",
                handler: .async { _ in
                    while true { try await Task.sleep(for: .seconds(3600)) }
                }
            ),
        ]
    }
}
