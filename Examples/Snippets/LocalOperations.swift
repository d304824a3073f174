import Backgroundable
import Foundation

enum Database {}

func fetch(_ url: URL) async throws -> Data { Data() }
func store(_ data: Data) async throws {}
@Sendable func report(_ name: String?, _ errors: [any Error]) {}

func refreshing(_ url: URL) async throws {
    let refresh = AsyncOperation(name: "refresh", timeout: 20, uniquenessPolicy: .drop) { operation in
        try await store(fetch(url))
    }
    refresh.addCondition(MutuallyExclusive<Database>())
    refresh.addObserver(FinishedObserver { operation, errors in report(operation.name, errors) })
    OperationQueue.background.addOperation(refresh)
    try await refresh.succeeded()
}
