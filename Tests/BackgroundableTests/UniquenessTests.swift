import Foundation
import Testing

@testable import Backgroundable

@Suite struct UniquenessTests {
    private func operation(_ name: String?, _ policy: AsyncOperationUniquenessPolicy) -> AsyncOperation {
        AsyncOperation(name: name, uniquenessPolicy: policy) { $0.finish() }
    }

    @Test func ignoreAddsWhateverIsThere() {
        let busy = BusyQueue()
        let all = (0..<3).map { _ in operation("a", .ignore) }
        all.forEach(busy.queue.addOperation)
        busy.release()
        #expect(all.allSatisfy { $0.ending == .finished })
    }

    @Test func dropDoesNotAddTheNewOneAndEndsIt() {
        let busy = BusyQueue()
        let old = operation("a", .ignore)
        let new = operation("a", .drop)
        let dependent = PlainOperation()
        dependent.addDependency(new)
        busy.queue.addOperation(old)
        busy.queue.addOperation(new)
        #expect(busy.queue.operations.count == 2)
        #expect(new.isFinished && new.ending == .cancelled)
        OperationQueue().addOperations([dependent], waitUntilFinished: true)
        busy.release()
        #expect(old.ending == .finished)
    }

    @Test func replaceCancelsEveryOldOneAndAddsTheNew() {
        let busy = BusyQueue()
        let old = (0..<3).map { _ in operation("a", .ignore) }
        let plain = PlainOperation(name: "a")
        let other = operation("b", .drop)
        old.forEach(busy.queue.addOperation)
        busy.queue.addOperation(plain)
        busy.queue.addOperation(other)
        let new = operation("a", .replace)
        busy.queue.addOperation(new)
        #expect(old.allSatisfy { $0.isCancelled } && plain.isCancelled)
        busy.release()
        #expect(new.ending == .finished && other.ending == .finished)
    }

    @Test func onlyTheNewOperationsPolicyCounts() {
        let busy = BusyQueue()
        let first = operation("a", .drop)
        let second = operation("a", .ignore)
        let third = operation("a", .drop)
        [first, second, third].forEach(busy.queue.addOperation)
        #expect(first.ending == nil && second.ending == nil && third.ending == .cancelled)
        busy.release()
    }

    @Test func bothNeedAName() {
        let busy = BusyQueue()
        let nameless = [operation(nil, .drop), operation(nil, .replace), operation(nil, .drop)]
        nameless.forEach(busy.queue.addOperation)
        busy.release()
        #expect(nameless.allSatisfy { $0.ending == .finished })
    }

    @Test func plainOperationsWithANameCount() {
        let busy = BusyQueue()
        busy.queue.addOperation(PlainOperation(name: "a"))
        let new = operation("a", .drop)
        busy.queue.addOperation(new)
        #expect(new.ending == .cancelled)
        busy.release()
    }

    @Test func finishedAndCancelledOnesDoNotCount() {
        let busy = BusyQueue()
        let cancelled = operation("a", .ignore)
        let plain = PlainOperation(name: "a")
        busy.queue.addOperation(cancelled)
        busy.queue.addOperation(plain)
        cancelled.cancel()
        plain.cancel()
        let new = operation("a", .drop)
        busy.queue.addOperation(new)
        #expect(new.ending == nil)
        busy.release()
        let later = operation("a", .drop)
        busy.queue.addOperations([later], waitUntilFinished: true)
        #expect(later.ending == .finished)
        let plainLater = PlainOperation(name: "b")
        busy.queue.addOperations([plainLater], waitUntilFinished: true)
        let last = operation("b", .drop)
        busy.queue.addOperations([last], waitUntilFinished: true)
        #expect(last.ending == .finished)
    }

    @Test func aRunningOneCounts() {
        let queue = BackgroundQueue()
        let began = Signal()
        let running = queue.addAsyncOperation(name: "a", timeout: 0) { _ in began.fire() }
        #expect(began.wait())
        #expect(queue.addAsyncOperation(name: "a", uniquenessPolicy: .drop) { $0.finish() }.ending == .cancelled)
        let new = queue.addAsyncOperation(name: "a", uniquenessPolicy: .replace) { $0.finish() }
        #expect(running.isCancelled && running.isFinished)
        new.waitUntilFinished()
        #expect(new.ending == .finished)
    }

    @Test(arguments: [AsyncOperationUniquenessPolicy.drop, .replace])
    func operationsOfOneCallAreNotComparedWithEachOther(policy: AsyncOperationUniquenessPolicy) {
        let busy = BusyQueue()
        let old = operation("a", .ignore)
        busy.queue.addOperation(old)
        let same = (0..<3).map { _ in operation("a", policy) }
        busy.queue.addOperations(same, waitUntilFinished: false)
        #expect(old.isCancelled == (policy == .replace))
        #expect(same.allSatisfy { ($0.ending == nil) == (policy == .replace) })
        let fresh = (0..<3).map { _ in operation("b", policy) }
        busy.queue.addOperations(fresh, waitUntilFinished: false)
        #expect(fresh.allSatisfy { $0.ending == nil })
        busy.release()
        #expect(fresh.allSatisfy { $0.ending == .finished })
    }

    @Test func aPlainQueueKnowsNoPolicies() {
        let queue = OperationQueue()
        let held = Signal()
        queue.addAsyncOperation(name: "a") { own in
            _ = held.wait()
            own.finish()
        }
        let new = queue.addAsyncOperation(name: "a", uniquenessPolicy: .drop) { $0.finish() }
        new.waitUntilFinished()
        #expect(new.ending == .finished)
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func concurrentAddsLetExactlyOneThrough() {
        for _ in 0..<100 {
            let queue = BackgroundQueue()
            let held = Signal()
            let runs = Box(0)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                queue.addAsyncOperation(name: "only", uniquenessPolicy: .drop) { own in
                    runs.change { $0 += 1 }
                    inTheGlobalQueue {
                        _ = held.wait()
                        own.finish()
                    }
                }
            }
            held.fire()
            queue.waitUntilAllOperationsAreFinished()
            #expect(runs.now == 1)
        }
    }

    @Test func concurrentReplacesLeaveExactlyOne() {
        let busy = BusyQueue()
        let all = (0..<400).map { _ in operation("a", .replace) }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in stride(from: thread, to: all.count, by: 8) { busy.queue.addOperation(all[index]) }
        }
        busy.release()
        #expect(all.filter { $0.ending == .finished }.count == 1)
        #expect(all.allSatisfy { $0.isFinished })
    }

    /// The cost grows neither with other names nor with ended operations of the same name.
    @Test func findingANameCostsTheSameHoweverManyWait() {
        let busy = BusyQueue()
        /// The time of the fastest hundred: others share the processors with whatever runs beside them.
        func fastest(_ names: Range<Int>) -> UInt64 {
            stride(from: names.lowerBound, to: names.upperBound, by: 100).map { start in
                let some = (start..<start + 100).map { operation("name \($0)", .drop) }
                let begin = MonotonicTime.now
                some.forEach(busy.queue.addOperation)
                return UInt64(MonotonicTime.now - begin)
            }.min() ?? .max
        }
        let first = fastest(0..<2_000)
        _ = fastest(2_000..<50_000)
        let last = fastest(50_000..<52_000)
        // A search through all of them would take hundreds of times as long.
        #expect(last < first * 10, "\(first) ns, then \(last) ns")
        busy.queue.cancelAllOperations()
        busy.release()
    }

    @Test(arguments: [AsyncOperationUniquenessPolicy.drop, .replace])
    func anOperationAddedDuringACallIsSeen(_ policy: AsyncOperationUniquenessPolicy) {
        for name in (0..<100).map({ "name-\($0)" }) {
            var roll = OperationIndex()
            func admit(_ name: String, _ call: UInt64) -> Admission {
                let own = operation(name, policy)
                return roll.admit(own, key: NameKey(name), policy: policy, call: call)
            }
            // Enough in one call that every chain has some.
            for number in 0..<200 { _ = admit("other-\(number)", 1) }
            #expect(admit(name, 2).seat != nil)
            let second = admit(name, 1)
            #expect(policy == .drop ? second.seat == nil : second.displaced.count == 1, "\(name)")
        }
    }

    @Test func theIndexKeepsItsChainsConsistent() {
        var roll = OperationIndex()
        var random = SystemRandomNumberGenerator()
        var seats: [Int: AsyncOperation] = [:]
        for call in 1...3_000 as ClosedRange<UInt64> {
            if Bool.random(using: &random) || seats.isEmpty {
                let own = operation("n\(call % 3)", .ignore)
                let admission = roll.admit(own, key: own.name.map(NameKey.init), policy: .ignore, call: call)
                if let seat = admission.seat { seats[seat] = own }
            } else if let (seat, own) = seats.randomElement() {
                #expect(roll.leave(seat) === own)
                seats[seat] = nil
                #expect(roll.leave(seat) == nil)
            }
        }
        for number in 0..<3 {
            let expected = Set(seats.values.filter { $0.name == "n\(number)" }.map(ObjectIdentifier.init))
            let probe = operation("n\(number)", .replace)
            let found = roll.admit(probe, key: probe.name.map(NameKey.init), policy: .replace, call: 0).displaced
            #expect(Set(found.map(ObjectIdentifier.init)) == expected)
            #expect(found.count == expected.count)
        }
        #expect(roll.operations.count == seats.count + 3)
    }
}
