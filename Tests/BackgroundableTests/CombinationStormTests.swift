import Foundation
import Synchronization
import Testing

@testable import Backgroundable

extension LoadTests {
    @Suite struct CombinationStormTests {
        /// Sixty-four threads add operations, groups and retries with every kind of condition and observer to every
        /// kind of queue, end them, and suspend the queues. Afterwards everything has ended once, every observer has
        /// been notified once, and every category and queue is empty. `STORM_SECONDS` lengthens it.
        @Test func everythingInCombination() async {
            let seconds = ProcessInfo.processInfo.environment["STORM_SECONDS"].flatMap(Double.init) ?? 1
            let storm = CombinationStorm()
            await withCheckedContinuation { passed in
                Thread {
                    storm.rage(until: MonotonicTime.now + UInt64(seconds * 1e9))
                    passed.resume()
                }.start()
            }
            // Some operations are tasks, whose threads other tests block now and then.
            let hasPassed = await eventually(seconds: 120) { storm.isOver }
            #expect(hasPassed, "\(storm.remains)")
            guard hasPassed else { return storm.abandon() }
            #expect(storm.watches.count > 0)
            #expect(await eventually { ExclusiveCategories.shared.count == 0 })
            #expect(await eventually { storm.queues.allSatisfy { $0.operationCount == 0 } })
            #expect(await eventually { storm.backgroundQueues.allSatisfy { $0.overrunCount == 0 } })
        }
    }
}

/// The notifications of one observer, for comparison with the expected ones.
private final class Watch: OperationObserver {
    private struct Calls {
        var started = 0, cancelled = 0, timedOut = 0, finished = 0, wasInOrder = true
    }

    private let calls = Box(Calls())
    let operation: AsyncOperation

    init(_ operation: AsyncOperation) {
        self.operation = operation
        operation.addObserver(self)
    }

    var isDone: Bool { calls.now.finished > 0 && operation.isFinished }

    /// Whether it was notified of each event once, and of no other.
    var isRight: Bool {
        let calls = calls.now
        return calls.wasInOrder && calls.finished == 1 && calls.started <= 1
            && calls.cancelled == (operation.ending == .cancelled ? 1 : 0)
            && calls.timedOut == (operation.ending == .timedOut ? 1 : 0)
    }

    func didStart(_ operation: AsyncOperation) {
        calls.change { calls in
            calls.wasInOrder = calls.wasInOrder && calls.cancelled + calls.timedOut + calls.finished == 0
            calls.started += 1
        }
    }

    func didCancel(_ operation: AsyncOperation) {
        calls.change { $0.cancelled += 1 }
    }

    func didTimeOut(_ operation: AsyncOperation) {
        calls.change { $0.timedOut += 1 }
    }

    func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        calls.change { calls in
            calls.wasInOrder = calls.wasInOrder && calls.finished == 0
            calls.finished += 1
        }
    }
}

/// The watches that are not yet verified, and the number of all.
private final class Watches: Sendable {
    private let open = Box<[Watch]>([])
    private let wrong = Box<[String]>([])
    private let made = Atomic<Int>(0)

    var count: Int { made.load(ordering: .relaxed) }
    var openCount: Int { open.now.count }
    var faults: [String] { wrong.now }
    var recent: AsyncOperation? { open.now.suffix(64).randomElement()?.operation }
    var operations: [AsyncOperation] { open.now.map(\.operation) }

    func watch(_ operation: AsyncOperation) {
        made.add(1, ordering: .relaxed)
        let watch = Watch(operation)
        open.change { $0.append(watch) }
    }

    /// Removes the watches of ended operations.
    func sweep() {
        let done = open.now.filter(\.isDone)
        let identities = Set(done.map(ObjectIdentifier.init))
        open.change { $0.removeAll { identities.contains(ObjectIdentifier($0)) } }
        for watch in done where !watch.isRight { wrong.change { $0.append("\(watch.operation)") } }
    }
}

private final class CombinationStorm: Sendable {
    let watches = Watches()
    let backgroundQueues: [BackgroundQueue]
    let queues: [OperationQueue]
    private let mostOpen = 1_500

    init() {
        backgroundQueues = (0..<4).map { _ in BackgroundQueue() }
        let plainQueues = (0..<3).map { _ in OperationQueue() }
        backgroundQueues[0].maxConcurrentOperationCount = 1
        backgroundQueues[1].maxConcurrentOperationCount = 3
        plainQueues[0].maxConcurrentOperationCount = 1
        queues = backgroundQueues + plainQueues
    }

    var isOver: Bool {
        watches.sweep()
        return watches.openCount == 0 && watches.faults.isEmpty
    }

    var remains: String {
        let open = watches.operations
        let queues = queues.map { "\($0.operationCount)\($0.isSuspended ? " suspended" : "")" }
        let waiting = open.filter { $0.ending == nil }.prefix(8).map {
            "\($0), ready: \($0.isReady), after \($0.dependencies)"
        }
        return
            "\(open.count) of \(watches.count) are left, in queues \(queues), lines \(ExclusiveCategories.shared.count): \(open.prefix(4)); "
            + "waiting: \(waiting); running: \(open.filter(\.isExecuting).prefix(8)); reported wrongly: \(watches.faults.prefix(8))"
    }

    /// Releases hanging operations, so that later tests are not delayed.
    func abandon() {
        for operation in watches.operations { operation.cancel() }
    }

    func rage(until over: UInt64) {
        let threads = DispatchGroup()
        for number in 0..<64 {
            threads.enter()
            Thread {
                var dice = Dice(seed: UInt64(number))
                while MonotonicTime.now < over {
                    if number == 0 { self.watches.sweep() }
                    self.step(number, &dice)
                    if self.watches.openCount > self.mostOpen { Thread.sleep(forTimeInterval: 0.002) }
                }
                threads.leave()
            }.start()
        }
        threads.wait()
    }

    private func step(_ thread: Int, _ dice: inout Dice) {
        switch thread % 8 {
        case 0...4 where watches.openCount <= mostOpen: add(&dice)
        case 5: watches.recent?.cancel()
        case 6: watches.recent?.finish(with: dice.isOne(of: 2) ? Mishap("from outside") : nil)
        case 7: disturb(&dice)
        default: break
        }
    }

    private func disturb(_ dice: inout Dice) {
        if let operation = watches.recent, dice.isOne(of: 2) { return watches.watch(operation) }
        let number = dice.roll(backgroundQueues.count)
        backgroundQueues[number].isSuspended = true
        if dice.isOne(of: 4) { backgroundQueues[number].addBarrierBlock {} }
        backgroundQueues[number].isSuspended = false
        queues[queues.count - 1].isSuspended = true
        queues[queues.count - 1].isSuspended = false
    }

    private func add(_ dice: inout Dice) {
        let first = operation(&dice, depth: 0)
        let queue = queues[dice.roll(queues.count)]
        guard dice.isOne(of: 3) else { return queue.addOperation(first) }
        let second = operation(&dice, depth: 0)
        second.addDependency(first)
        let other = queues[dice.roll(queues.count)]
        // A barrier between the two would wait for the second, and the first for the barrier.
        let isReversed = !(other is BackgroundQueue) && dice.isOne(of: 2)
        if isReversed { other.addOperation(second) }
        queue.addOperation(first)
        if !isReversed { other.addOperation(second) }
    }

    // MARK: Operations

    private func operation(_ dice: inout Dice, depth: Int) -> AsyncOperation {
        let operation: AsyncOperation
        switch dice.roll(12) {
        case 0...1 where depth < 3: operation = group(&dice, depth: depth)
        case 2 where depth < 3: operation = retry(dice.isOne(of: 2))
        default: operation = leaf(&dice)
        }
        if !(operation is RetryOperation) { condition(operation, &dice) }
        watches.watch(operation)
        return operation
    }

    private func group(_ dice: inout Dice, depth: Int) -> AsyncOperation {
        let parts = (0...dice.roll(3)).map { _ in operation(&dice, depth: depth + 1) }
        if parts.count > 1, dice.isOne(of: 2) { parts[0].addDependency(parts[1]) }
        let group = GroupOperation(timeout: dice.isOne(of: 6) ? 0.003 : 0, operations: parts)
        if dice.isOne(of: 3) { group.maxConcurrentOperationCount = 1 }
        return group
    }

    private func retry(_ succeeds: Bool) -> AsyncOperation {
        RetryOperation(attempts: 3, delay: .constant(succeeds ? 0.001 : 0)) { attempt in
            let operation = AsyncOperation { $0.finish(with: succeeds && attempt == 2 ? nil : Mishap("attempt")) }
            operation.addCondition(MutuallyExclusive(category: "attempt \(attempt)"))
            return operation
        }
    }

    private func leaf(_ dice: inout Dice) -> AsyncOperation {
        let way = dice.roll(6)
        let name = "n\(dice.roll(200))"
        let policies = AsyncOperationUniquenessPolicy.allCases
        let policy = policies[dice.roll(policies.count)]
        if way == 5 {
            return AsyncOperation(name: name, timeout: 0, uniquenessPolicy: policy) { _ in await Task.yield() }
        }
        return AsyncOperation(name: name, timeout: way == 3 ? 0.002 : 0, uniquenessPolicy: policy) { own in
            switch way {
            case 0: own.finish()
            case 1: own.finish(with: Mishap("storm"))
            case 2: own.cancel()
            case 3: break
            default: inTheGlobalQueue { own.finish() }
            }
        }
    }

    private func condition(_ operation: AsyncOperation, _ dice: inout Dice) {
        for _ in 0..<dice.roll(4) {
            let holds = !dice.isOne(of: 5)
            switch dice.roll(7) {
            case 0...2: operation.addCondition(MutuallyExclusive(category: "storm \(dice.roll(5))"))
            case 3: operation.addCondition(BlockCondition { holds })
            case 4: operation.addCondition(NegatedCondition(BlockCondition { !holds }))
            case 5: operation.addCondition(NoFailedDependenciesCondition(ignoreCancellations: holds))
            default: operation.addCondition(SilentCondition(MutuallyExclusive(category: "storm \(dice.roll(5))")))
            }
        }
    }
}

/// Pseudo-random numbers that are the same each time.
private struct Dice {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    }

    mutating func roll(_ sides: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % max(1, sides)
    }

    mutating func isOne(of sides: Int) -> Bool {
        roll(sides) == 0
    }
}
