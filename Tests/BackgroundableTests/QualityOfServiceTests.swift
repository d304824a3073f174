import Foundation
import Testing

@testable import Backgroundable

/// The quality of service of an operation, of its queue, or of its group reaches its task.
@Suite struct QualityOfServiceTests {
    /// An operation that records its task's priority.
    private static func recording(_ log: Box<[TaskPriority]>) -> AsyncOperation {
        AsyncOperation(timeout: 0) { _ in
            await Task.yield()
            log.change { $0.append(Task.currentPriority) }
        }
    }

    @Test(arguments: [
        (QualityOfService.userInteractive, TaskPriority.userInitiated), (.userInitiated, .userInitiated),
        (.utility, .utility), (.background, .background),
    ])
    func `a task has its operation's quality of service, or its queue's`(
        quality: QualityOfService,
        priority: TaskPriority
    ) async throws {
        let log = Box<[TaskPriority]>([])
        let own = Self.recording(log)
        own.qualityOfService = quality
        let plain = OperationQueue()
        plain.qualityOfService = quality
        let ours = BackgroundQueue()
        ours.qualityOfService = quality
        for (queue, operation) in [(BackgroundQueue(), own), (plain, Self.recording(log)), (ours, Self.recording(log))]
        {
            queue.addOperation(operation)
            try await queue.drained()
        }
        #expect(log.now == [priority, priority, priority])
    }

    @Test func `an operation's own quality of service goes before its queue's`() async throws {
        let log = Box<[TaskPriority]>([])
        let queue = BackgroundQueue()
        queue.qualityOfService = .background
        let operation = Self.recording(log)
        operation.qualityOfService = .userInitiated
        queue.addOperation(operation)
        try await queue.drained()
        #expect(log.now == [.userInitiated])
    }
}
