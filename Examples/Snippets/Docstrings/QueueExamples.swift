import Backgroundable
import Foundation

/// The examples in the documentation of queues, groups, retries and background tasks.
private struct File: Sendable {}

private func adding(_ load: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    let queue = BackgroundQueue()
    queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { operation in
        load { operation.finish() }
    }
}

private func addingTasks(_ queue: BackgroundQueue, _ url: URL) async throws {
    let refresh = queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { _ in
        try await store(fetch(url))
    }
    try await refresh.succeeded()
}

private func grouping(_ queue: BackgroundQueue, _ render: Operation, _ upload: Operation, _ notify: Operation) {
    let publish = GroupOperation(name: "publish", operations: [render, upload])  // with dependencies between them
    publish.addOperation(notify)
    queue.addOperation(publish)
}

private func retrying(
    _ file: File,
    _ send: @escaping @Sendable (File, @escaping @Sendable ((any Error)?) -> Void) -> Void
) -> Operation {
    let upload = RetryOperation(attempts: 5, delay: .exponential(from: 0.5).jittered()) { attempt in
        ContinuationOperation(timeout: 30) { continuation in send(file) { continuation($0) } }
    }
    return upload
}

private protocol Server: Sendable {
    func stopAccepting()
}

private func leaving(_ server: any Server) {
    BackgroundTasks.shared.onTermination { remaining in
        server.stopAccepting()
        print("leaving in at most \(remaining) s")
    }
}

private func staying() async -> Bool {
    BackgroundTasks.shared.leavesOnTermination = false
    let isClean = await BackgroundTasks.shared.waitForAll(within: .seconds(20))
    return isClean
}

private protocol Upload: Sendable {
    func giveUp()
    func whenDone(_ then: @escaping @Sendable () -> Void)
}

private func beginning(_ upload: any Upload) {
    let task = BackgroundTasks.shared.beginBackgroundTask(withName: "upload") { upload.giveUp() }
    upload.whenDone { BackgroundTasks.shared.endBackgroundTask(task) }
}
