import Backgroundable
import Foundation
import Synchronization

/// The examples in the documentation of single operations, conditions and observers.
private enum Uplink {}
private struct File: Sendable {}

private func asTask(_ url: URL) -> AsyncOperation {
    AsyncOperation(name: "refresh", timeout: 20) { operation in
        let page = try await fetch(url)
        try await store(page)
    }
}

private func withCompletion(
    _ load: @escaping @Sendable (@escaping @Sendable (Data) -> Void) -> Void,
    _ show: @escaping @Sendable (Data) -> Void
) {
    OperationQueue.background.addOperation(
        AsyncOperation(name: "refresh", timeout: 20) { operation in
            load { result in
                guard !operation.isCancelled else { return }
                show(result)
                operation.finish()
            }
        }
    )
}

private func continuing(
    _ file: File,
    _ upload: @escaping @Sendable (File, @escaping @Sendable ((any Error)?) -> Void) -> Void,
    _ report: @escaping @Sendable ([any Error]) -> Void
) {
    let operation = ContinuationOperation { continuation in
        upload(file) { error in continuation(error) }
    }
    operation.addCondition(MutuallyExclusive<Uplink>())
    operation.addObserver(FinishedObserver { _, errors in report(errors) })
}

private func awaiting(_ queue: BackgroundQueue, _ upload: AsyncOperation) async throws {
    queue.addOperation(upload)
    try await upload.succeeded()
}

private func conditions(_ operation: AsyncOperation, _ path: String) {
    operation.addCondition(MutuallyExclusive<Database>())
    operation.addCondition(MutuallyExclusive(category: "reports"))

    operation.addCondition(BlockCondition { FileManager.default.fileExists(atPath: path) })
}

private func observers(_ operation: AsyncOperation) {
    operation.addObserver(
        FinishedObserver { operation, errors in
            report(operation.name, errors)
        }
    )

    operation.addObserver(TimeoutObserver(by: 30))
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    func raise() { value.store(true, ordering: .relaxed) }
}

private func deadlines(_ late: Flag) {
    let deadline = DeadlineTimer.shared.schedule(after: .seconds(2)) { late.raise() }
    deadline.cancel()
}
