import Foundation
import Testing

@testable import Backgroundable

/// A state that a macro's expansion can hold.
private final class Shared: Sendable {
    let state = AsyncOperationState()
}

@Suite struct AsyncOperationStateTests {
    @Test(arguments: AsyncOperationEnding.allCases, AsyncOperationEnding.allCases)
    func theFirstEndingIsTheOnlyOne(first: AsyncOperationEnding, second: AsyncOperationEnding) {
        let shared = Shared()
        let holds0 = shared.state.decide(first) != nil
        #expect(holds0)
        let holds1 = shared.state.decide(second) == nil
        #expect(holds1)
        let holds2 = shared.state.facts.ending == first
        #expect(holds2)
    }

    @Test func onlyOneOfManyDecidesOrClaims() {
        for _ in 0..<500 {
            let shared = Shared()
            let winners = Box([0, 0])
            DispatchQueue.concurrentPerform(iterations: 4) { racer in
                if shared.state.decide(racer.isMultiple(of: 2) ? .finished : .cancelled) != nil {
                    winners.change { $0[0] += 1 }
                }
                if shared.state.claim() { winners.change { $0[1] += 1 } }
            }
            #expect(winners.now == [1, 1])
        }
    }

    @Test func theSecondOfTwoThreadsCloses() {
        let reportedFirst = Shared()
        _ = reportedFirst.state.decide(.cancelled)
        let holds3 = !reportedFirst.state.reportEnd().contains(.opened)
        #expect(holds3)
        let holds4 = !reportedFirst.state.facts.isFinished
        #expect(holds4)
        let holds5 = reportedFirst.state.open().contains(.endReported)
        #expect(holds5)
        let holds6 = reportedFirst.state.facts.isFinished
        #expect(holds6)
        let openedFirst = Shared()
        _ = openedFirst.state.decide(.finished)
        let holds7 = !openedFirst.state.open().contains(.endReported)
        #expect(holds7)
        let holds8 = !openedFirst.state.facts.isFinished && !openedFirst.state.facts.contains(.inClosure)
        #expect(holds8)
        let holds9 = openedFirst.state.reportEnd().contains(.opened)
        #expect(holds9)
        let holds10 = openedFirst.state.facts.isFinished
        #expect(holds10)
    }
}
