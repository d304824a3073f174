import Configuration
import Errand
import ErrandRedis
import Foundation
import Logging
import Photos

/// The worker: as many of these as there are machines to spare.
@main
struct PhotoWorker {
    static func main() async throws {
        let environment = ConfigReader(provider: EnvironmentVariablesProvider())
        let config = environment.scoped(to: "errand")
        let logger = Logger(label: "photo-worker")
        let directory = environment.string(forKey: "photos.directory", default: "photos")
        let store = try PhotoStore(URL(filePath: directory))

        let worker = Worker(
            broker: try RedisBroker(config: config, logger: logger),
            configuration: try WorkerConfiguration(config: config),
            middleware: [TracingMiddleware(), MetricsMiddleware()],
            logger: logger
        )
        worker.registerJob(retryStrategy: .exponentialJitter(maxAttempts: 4)) { (job: ResizePhoto, context) in
            try await resize(job.photo, store, context)
        }
        try await worker.runUntilTerminated()
    }

    /// Makes one version after the other, and gives the sizes as result.
    ///
    /// Each that is done is in the checkpoint, so whoever takes the job over after a crash goes on with the next one.
    private static func resize(_ photo: String, _ store: PhotoStore, _ context: JobContext) async throws -> [Int] {
        guard PhotoStore.isPhoto(photo), FileManager.default.fileExists(atPath: store.original(photo).path) else {
            throw JobFailure("there is no photo \(photo)", isFinal: true)
        }
        var done = try await context.checkpoint(as: [Int].self) ?? []
        for size in ResizePhoto.sizes where !done.contains(size) {
            try await tell(done, "making \(size) pixels", context)
            let file = store.unfinished()
            defer { try? FileManager.default.removeItem(at: file) }
            try await ImageTool.shrink(store.original(photo), to: size, into: file)
            try store.publish(file, as: store.version(photo, size))
            done.append(size)
            try await context.checkpoint(done)
        }
        try await tell(done, "done", context)
        return done
    }

    private static func tell(_ done: [Int], _ what: String, _ context: JobContext) async throws {
        try await context.progress(Double(done.count) / Double(ResizePhoto.sizes.count), what)
    }
}
