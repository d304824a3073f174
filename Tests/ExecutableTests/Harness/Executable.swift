import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One of the package's executables.
enum Executable: String {
    case producer = "errand-producer"
    case console = "errand"
    case worker = "errand-worker"
    case dashboard = "errand-dashboard"

    /// Its path, in the directory of the tests.
    var url: URL {
        get throws {
            let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
            let places = bundles + [URL(fileURLWithPath: CommandLine.arguments[0]), Bundle.main.bundleURL]
            for place in places {
                for folder in [place.deletingLastPathComponent(), place] {
                    let candidate = folder.appendingPathComponent(rawValue)
                    var isFolder: ObjCBool = false
                    if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder),
                        !isFolder.boolValue
                    {
                        return candidate
                    }
                }
            }
            throw TestFailure("\(rawValue) was not built with the tests")
        }
    }

    /// Runs it until it ends.
    func run(
        _ arguments: [String],
        input: [UInt8] = [],
        environment: [String: String] = [:]
    ) async throws -> Output {
        let running = try RunningExecutable(self, arguments, environment: environment)
        running.write(input)
        running.closeInput()
        return await running.end()
    }

    /// Runs it with a broker until it ends.
    func run(_ arguments: [String], on server: RedisServer, input: String = "") async throws -> Output {
        try await run(arguments, input: Array(input.utf8), environment: ["ERRAND_REDIS_URL": server.url])
    }
}

/// The output and exit status of a process.
struct Output: Sendable {
    let status: Int32
    let bytes: [UInt8]
    let error: String

    /// Standard output as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// Standard output's lines.
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    /// Standard output's lines as JSON objects.
    var objects: [[String: JSON]] {
        get throws { try lines.map { try JSON(text: $0).object } }
    }
    /// Standard output as one JSON object.
    var object: [String: JSON] {
        get throws {
            guard lines.count == 1 else { throw TestFailure("not one line: \(text); \(error)") }
            return try JSON(text: lines[0]).object
        }
    }
}
