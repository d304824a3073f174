import Errand

/// What the demo's workers can do.
enum DemoOperations {
    /// The queue of all the demo's jobs.
    static let queue = "demo"
    /// How long a `stuck` job gets.
    static let stuckTimeout = Duration.seconds(1)

    struct ChecksumArguments: Codable { let path: String }

    /// `checksum` gives a file's SHA-256 and size; `stuck` never ends by itself.
    ///
    /// - Parameter spoiled: a file whose checksum comes out wrong, to show that the demo would notice.
    static func registered(spoiling spoiled: String?) -> [RegisteredOperation] {
        [
            RegisteredOperation(
                "checksum",
                handler: .blocking { job in
                    let path = try job.arguments.decode(ChecksumArguments.self).path
                    let sum = try FileSum.compute(of: path, isCancelled: { job.isCancelled })
                    return .finished(
                        result: path == spoiled ? FileSum(sha256: sum.sha256, size: sum.size + 1).json : sum.json
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
