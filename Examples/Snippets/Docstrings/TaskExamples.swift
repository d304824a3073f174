import Backgroundable
import Errand
import Foundation
import Logging
import ServiceLifecycle

/// The examples in the documentation of task schedulers.
private protocol Prices: Sendable {
    func load(_ done: @escaping @Sendable (Bool) -> Void)
    func stop()
}

private func requesting() throws {
    let request = AppRefreshTaskRequest(identifier: "prices.refresh")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
    try TaskScheduler.shared.submit(request)
}

private func scheduling(_ prices: any Prices) throws {
    let scheduler = TaskScheduler.shared
    scheduler.permit(["prices.refresh"])
    scheduler.register(forTaskWithIdentifier: "prices.refresh", using: nil) { task in
        let next = AppRefreshTaskRequest(identifier: "prices.refresh")
        next.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
        try? scheduler.submit(next)
        task.expirationHandler = { prices.stop() }
        prices.load { task.setTaskCompleted(success: $0) }
    }
    try scheduler.submit(AppRefreshTaskRequest(identifier: "prices.refresh"))
}

private func refused(_ request: TaskRequest) throws {
    do {
        try TaskScheduler.shared.submit(request)
    } catch TaskScheduler.Error.notPermitted {
        // The identifier is not among the permitted ones.
    }
}

private func onABroker(_ broker: any Broker, _ prices: any Prices, _ logger: Logger) async throws {
    let scheduler = TaskScheduler(broker: broker, permittedIdentifiers: ["prices.refresh"], logger: logger)
    scheduler.register(forTaskWithIdentifier: "prices.refresh", using: nil) { task in
        prices.load { task.setTaskCompleted(success: $0) }
    }
    try await scheduler.submit(AppRefreshTaskRequest(identifier: "prices.refresh"))
    try await ServiceGroup(services: [try scheduler.makeWorker()], logger: logger).run()
}
