import Foundation
import TestSupport
import Testing

/// The error texts of failed children.
@Suite struct WorkerFailureTests {
    @Test func `the last words of standard error are kept whole`() async throws {
        let server = try RedisServer()
        let home = NSTemporaryDirectory() + "failure-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        let catalogue = home + "/catalogue.yaml"
        try """
        operations:
          complain:
            run: [sh, -c, "head -c 9000 /dev/zero | tr '\\\\0' x >&2; echo the reason >&2; exit 3"]
            retries: 0
        """.write(toFile: catalogue, atomically: true, encoding: .utf8)
        let environment = ["ERRAND_REDIS_URL": server.url]
        let worker = try RunningExecutable(.worker, ["--catalogue", catalogue], environment: environment)
        let pushed = try await Executable.producer.run(["push", "complain", "--wait"], environment: environment)
        worker.signal(SIGTERM)
        _ = await worker.end()
        #expect(pushed.status == 1)
        let kept = "exit status 3: " + String(repeating: "x", count: 4096 - "the reason".utf8.count - 1) + "the reason"
        #expect(pushed.error.contains(kept), "\(pushed.error.suffix(300))")
    }
}
