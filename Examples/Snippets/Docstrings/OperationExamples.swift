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

private let url = URL(filePath: "/")
private func send(_ url: URL, _ then: @escaping @Sendable ((any Error)?) -> Void) {}

private enum Subclasses {
    final class Upload: AsyncOperation, @unchecked Sendable {
        let url: URL

        init(url: URL) {
            self.url = url
            super.init(name: "upload", timeout: 60)
        }

        override func execute() {
            send(url) { error in self.finish(with: error) }
        }
    }

    final class Refresh: AsyncOperation, @unchecked Sendable {
        override func execute() async throws {
            let page = try await fetch(url)
            try await store(page)
        }
    }
}

private func returning(_ rebuildIndex: @escaping @Sendable () throws -> Void) -> AsyncOperation {
    AsyncOperation(name: "index") { try rebuildIndex() }
}

private func withResults(_ queue: BackgroundQueue) async throws {
    let page = ResultOperation { try await fetch(url) }
    let size = TransformOperation { (page: Data) in page.count }.injectResult(from: page)
    queue.addOperations([page, size])
    print(try await size.value)
}

private func handingOver(
    _ download: @escaping @Sendable (URL, @escaping @Sendable (Result<Data, any Error>) -> Void) -> Void
) -> AsyncOperation {
    ResultOperation<Data> { operation in
        download(url) { result in operation.finish(withResult: result) }
    }
}

private func awaitingResult() -> AsyncOperation {
    @Sendable func fetch(_ url: URL, named name: String?) async throws -> Data { Data() }
    return ResultOperation<Data> { operation in
        try await fetch(url, named: operation.name)
    }
}

private func withoutParameter() -> AsyncOperation {
    AsyncOperation(name: "refresh") { try await store(fetch(url)) }
}

private func delaying(_ queue: BackgroundQueue, _ prepare: Operation, _ send: Operation) {
    queue.addSequentialOperations([prepare, DelayOperation(by: .seconds(5)), send], waitUntilFinished: false)
}

private func spans(_ queue: BackgroundQueue) {
    queue.addAsyncOperation(timeout: 20) { operation in operation.finish() }
    queue.addAsyncOperation(timeout: .milliseconds(500)) { operation in operation.finish() }
}

private func compound(
    _ operation: AsyncOperation,
    _ isSignedIn: BlockCondition,
    _ isOnline: BlockCondition,
    _ isCached: BlockCondition
) {
    operation.addCondition(isSignedIn.and(isOnline.or(isCached)))
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
