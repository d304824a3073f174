import Foundation
import Synchronization
import Testing

@testable import Backgroundable

extension LoadTests {
    @Suite struct StormTests {
        /// Sixty-four threads add, cancel, finish and suspend at once; afterwards everything has ended exactly once,
        /// the queue is empty and the delegate's calls alternate. `STORM_SECONDS` lengthens it.
        @Test func everythingAtOnce() async {
            await onItsOwnThread { Storm().rage() }
        }
    }
}

/// Threads that use one queue in every way at once.
private final class Storm: Sendable {
    private let queue = BackgroundQueue()
    private let listener = Listener()
    private let made = Atomic<Int>(0)
    private let ended = Atomic<Int>(0)
    private let recent = Locked<[AsyncOperation]>([])

    func rage() {
        queue.maxConcurrentOperationCount = 4
        queue.delegate = listener
        let seconds = ProcessInfo.processInfo.environment["STORM_SECONDS"].flatMap(Double.init) ?? 1
        let over = MonotonicTime.now + UInt64(seconds * 1e9)
        let threads = DispatchGroup()
        for thread in 0..<64 {
            threads.enter()
            Thread { [self] in
                work(as: thread, until: over)
                threads.leave()
            }.start()
        }
        threads.wait()
        expectCalm()
    }

    private func work(as thread: Int, until over: UInt64) {
        var number = thread * 1_009
        while MonotonicTime.now < over {
            step(thread, number)
            number += 1
            if made.load(ordering: .relaxed) - ended.load(ordering: .relaxed) > 2_000 {
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    private func step(_ thread: Int, _ number: Int) {
        switch thread % 8 {
        case 0...3:
            let own = operation(number)
            recent.withLock { list in
                list.append(own)
                if list.count > 64 { list.removeFirst() }
            }
            queue.addOperation(own)
        case 4:
            let several = (0..<3).map { operation(number &+ $0) }
            queue.addOperations(several + [PlainOperation(name: "n1")], waitUntilFinished: false)
        case 5: recent.withLock { $0.randomElement() }?.cancel()
        case 6: recent.withLock { $0.randomElement() }?.finish()
        default:
            queue.isSuspended = true
            queue.addBarrierBlock {}
            queue.isSuspended = false
        }
    }

    private func operation(_ number: Int) -> AsyncOperation {
        made.add(1, ordering: .relaxed)
        return AsyncOperation(
            name: "n\(number % 37)",
            timeout: number.isMultiple(of: 5) ? 0.001 : 5,
            uniquenessPolicy: AsyncOperationUniquenessPolicy.allCases[number % 3],
            onEnd: { [self] _, _ in ended.add(1, ordering: .relaxed) },
            { own in
                switch number % 4 {
                case 0: own.finish()
                case 1: inTheGlobalQueue { own.finish() }
                case 2: own.cancel()
                default: if !number.isMultiple(of: 5) { own.finish() }
                }
            }
        )
    }

    private func expectCalm() {
        queue.waitUntilAllOperationsAreFinished()
        let patience = MonotonicTime.now + 20_000_000_000
        while listener.log.now.last != "finish" || queue.overrunCount > 0, MonotonicTime.now < patience {
            Thread.sleep(forTimeInterval: 0.001)
        }
        #expect(made.load(ordering: .relaxed) > 0)
        #expect(ended.load(ordering: .relaxed) == made.load(ordering: .relaxed))
        #expect(queue.overrunCount == 0)
        let log = listener.log.now
        #expect(log.enumerated().allSatisfy { $0.element == ($0.offset.isMultiple(of: 2) ? "start" : "finish") })
        #expect(log.count.isMultiple(of: 2))
    }
}
