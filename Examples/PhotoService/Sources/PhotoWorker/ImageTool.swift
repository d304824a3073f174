import Errand
import Foundation
import Synchronization

/// GraphicsMagick, as a child process: what an image that somebody uploaded does to it stays there.
enum ImageTool {
    /// Makes a smaller version. When the job's task is cancelled, the child is ended.
    static func shrink(_ photo: URL, to size: Int, into file: URL) async throws {
        let status = try await ImageChild([
            "gm", "convert", "-limit", "pixels", "200mp", "-size", "\(size)x\(size)", "jpeg:\(photo.path)",
            "-auto-orient", "-resize", "\(size)x\(size)>", "+profile", "*", "jpeg:\(file.path)",
        ]).run()
        try Task.checkCancellation()
        guard status == 0 else { throw JobFailure("the photo cannot be read (gm: \(status))", isFinal: status < 126) }
    }
}

/// A child process that ends with the task that waits for it.
private final class ImageChild: Sendable {
    private let process = Process()
    private let state = Mutex((hasBegun: false, isCancelled: false))

    init(_ words: [String]) {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
    }

    /// Answers its exit status.
    func run() async throws -> Int32 {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0) }
        } onCancel: {
            end()
        }
    }

    private func begin(_ continuation: CheckedContinuation<Int32, any Error>) {
        process.terminationHandler = {
            // Killed by a signal, for want of memory say, is not the photo's fault.
            continuation.resume(
                returning: $0.terminationReason == .exit ? $0.terminationStatus : 128 + $0.terminationStatus
            )
        }
        state.withLock { state in
            // Cancelled before it has begun, it must not begin.
            guard !state.isCancelled else { return continuation.resume(throwing: CancellationError()) }
            do {
                try process.run()
                state.hasBegun = true
            } catch { continuation.resume(throwing: error) }
        }
    }

    private func end() {
        state.withLock { state in
            state.isCancelled = true
            if state.hasBegun { process.terminate() }
        }
    }
}
