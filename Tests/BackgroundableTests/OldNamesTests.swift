import Backgroundable
import Foundation
import Testing

/// Aliases with the names of Backgroundable 1.4, Operations and ProcedureKit.
@Suite struct OldNamesTests {
    @Test func `the uniqueness policy has raw values and descriptions`() {
        #expect(AsyncOperationUniquenessPolicy.allCases.map(\.rawValue) == [0, 1, 2])
        #expect(AsyncOperationUniquenessPolicy.allCases.map(\.description) == ["ignore", "drop", "replace"])
        #expect("\(AsyncOperationUniquenessPolicy.default)" == "ignore")
        #expect(AsyncOperationUniquenessPolicy(rawValue: 2) == .replace)
    }

    @Test func `a closure may be kept under its old name`() {
        let closure: AsyncOperationClosure = { $0.finish() }
        let operation = AsyncOperation(closure)
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.ending == .finished)
    }

    @available(*, deprecated, message: "It uses the old names.")
    @Test func `observers are known under their old names`() {
        let log = Box<[String]>([])
        let operation = AsyncOperation { $0.cancel(with: Mishap("broken")) }
        operation.addObserver(WillExecuteObserver { _ in log.change { $0.append("will execute") } })
        operation.addObserver(DidExecuteObserver { _ in log.change { $0.append("did execute") } })
        operation.addObserver(WillCancelObserver { _, errors in log.change { $0.append("will cancel: \(errors)") } })
        operation.addObserver(DidCancelObserver { _ in log.change { $0.append("did cancel") } })
        operation.addObserver(WillFinishObserver { _, errors in log.change { $0.append("will finish: \(errors)") } })
        operation.addObserver(DidFinishObserver { _, errors in log.change { $0.append("did finish: \(errors)") } })
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(
            log.now == [
                "will execute", "did execute", "will cancel: [broken]", "did cancel", "will finish: [broken]",
                "did finish: [broken]",
            ]
        )
    }
}
