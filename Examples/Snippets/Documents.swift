import Backgroundable
import Errand
import Foundation
import Logging

/// The pieces of Swift in docs/ that are nowhere else.
private func warmUpTheCache() {}

private func local(_ url: URL) async throws {
    inTheBackground { warmUpTheCache() }  // OperationQueue.background

    let refresh = AsyncOperation(name: "refresh", timeout: 20, uniquenessPolicy: .drop) { operation in
        let page = try await fetch(url)  // a Task; finished when it returns
        try await store(page)
    }
    refresh.addCondition(MutuallyExclusive<Database>())
    refresh.addObserver(FinishedObserver { operation, errors in report(operation.name, errors) })
    OperationQueue.background.addOperation(refresh)

    try await refresh.succeeded()
}

private protocol Refresh: Sendable {
    func start(_ done: @escaping @Sendable (Bool) -> Void)
    func stop()
}

private func appleStyle(_ refresh: any Refresh) throws {
    TaskScheduler.shared.permit(["com.example.refresh"])
    TaskScheduler.shared.register(forTaskWithIdentifier: "com.example.refresh", using: nil) { task in
        task.expirationHandler = { refresh.stop() }
        refresh.start { task.setTaskCompleted(success: $0) }
    }
    let request = AppRefreshTaskRequest(identifier: "com.example.refresh")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 30 * 60)
    try TaskScheduler.shared.submit(request)
}

private func recurring(_ broker: any Broker, _ operations: [RegisteredOperation], _ logger: Logger) throws -> Worker {
    let nightly = try Schedule(
        "nightly-report",
        .cron("30 2 * * *", timeZone: "Europe/Berlin"),
        pushing: OperationDescription("report", arguments: ["kind": "sales"], queue: "reports"),
        overlap: .skip
    )
    let worker = Worker(broker: broker, operations: operations, schedules: [nightly], logger: logger)
    return worker
}
