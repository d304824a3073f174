import Foundation
import Testing

@testable import Backgroundable

@Suite struct TaskSchedulerTests {
    @Test(arguments: [nil, -60.0])
    func aRequestThatIsDueRunsAtOnce(seconds: TimeInterval?) throws {
        let scene = TaskScene()
        scene.register { task in
            #expect(task.identifier == TaskScene.identifier)
            #expect(task is AppRefreshTask)
            task.setTaskCompleted(success: true)
            task.setTaskCompleted(success: false)
        }
        try scene.submit(in: seconds)
        #expect(scene.endings.next() == [true])
        #expect(scene.pending.isEmpty)
        scene.queue.waitUntilAllOperationsAreFinished()
        #expect(scene.endings.soFar == [true])
    }

    @Test func theKindOfTheRequestIsTheKindOfTheTask() throws {
        let scene = TaskScene()
        scene.register { $0.setTaskCompleted(success: $0 is ProcessingTask) }
        let request = ProcessingTaskRequest(identifier: TaskScene.identifier)
        request.requiresNetworkConnectivity = true
        request.requiresExternalPower = true
        scene.queue.isSuspended = true
        try scene.scheduler.submit(request)
        let pending = try #require(scene.pending.first as? ProcessingTaskRequest)
        #expect(pending.requiresNetworkConnectivity && pending.requiresExternalPower)
        scene.queue.isSuspended = false
        #expect(scene.endings.next() == [true])
    }

    @Test func aRequestIsACopyFromItsSubmissionOn() async throws {
        let scene = TaskScene()
        let request = scene.request(in: 3600)
        let date = try #require(request.earliestBeginDate)
        try await scene.scheduler.submit(request)
        request.earliestBeginDate = nil
        let first = await scene.scheduler.pendingTaskRequests()
        #expect(first.map(\.earliestBeginDate) == [date])
        first.first?.earliestBeginDate = nil
        #expect(await scene.scheduler.pendingTaskRequests().map(\.earliestBeginDate) == [date])
    }

    @Test func onlyPermittedIdentifiersAreTakenAndEachOnce() throws {
        let scene = TaskScene()
        let scheduler = scene.scheduler
        #expect(!scheduler.register(forTaskWithIdentifier: "new", using: nil) { _ in })
        let refusal = #expect(throws: TaskScheduler.Error.self) { try scene.submit("new") }
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.localizedDescription.contains("\"new\" is not permitted") == true)
        do {
            try scene.submit("new")
        } catch TaskScheduler.Error.notPermitted {
            scene.log.change { $0.append("caught") }
        }
        #expect(scene.log.now == ["caught"])
        scheduler.permit(["new"])
        #expect(scheduler.register(forTaskWithIdentifier: "new", using: nil) { $0.setTaskCompleted(success: true) })
        #expect(!scheduler.register(forTaskWithIdentifier: "new", using: nil) { _ in })
        try scene.submit("new")
        #expect(scene.endings.next() == [true])
    }

    @Test func aRequestWaitsForItsHandler() throws {
        let scene = TaskScene()
        try scene.submit()
        #expect(scene.pending.count == 1)
        scene.register { $0.setTaskCompleted(success: true) }
        #expect(scene.endings.next() == [true])
    }

    @Test func theHandlerIsCalledOnItsQueue() throws {
        let scene = TaskScene()
        let own = DispatchQueue(label: "own")
        let key = DispatchSpecificKey<Bool>()
        own.setSpecific(key: key, value: true)
        scene.scheduler.register(forTaskWithIdentifier: TaskScene.identifier, using: own) { task in
            task.setTaskCompleted(success: DispatchQueue.getSpecific(key: key) == true)
        }
        try scene.submit()
        #expect(scene.endings.next() == [true])
    }

    @Test func theQueuesLimitsCountAndATaskHoldsItsPlaceUntilItIsCompleted() throws {
        let scene = TaskScene()
        scene.queue.maxConcurrentOperationCount = 1
        let tasks = Box<[ScheduledTask]>([])
        let launched = Signal()
        for identifier in [TaskScene.identifier, "other"] {
            scene.register(identifier) { task in
                tasks.change { $0.append(task) }
                launched.fire()
            }
            try scene.submit(identifier)
        }
        #expect(launched.wait())
        #expect(!launched.wait(seconds: 0.05))
        tasks.now.first?.setTaskCompleted(success: true)
        #expect(launched.wait())
        tasks.now.last?.setTaskCompleted(success: true)
        #expect(scene.endings.next().count + scene.endings.next().count >= 3)
    }

    @Test func aSchedulerWithWorkLeftLivesOn() throws {
        let done = Signal()
        do {
            let scheduler = TaskScheduler(permittedIdentifiers: ["a"], queue: BackgroundQueue())
            scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
                task.setTaskCompleted(success: true)
                done.fire()
            }
            let request = AppRefreshTaskRequest(identifier: "a")
            request.earliestBeginDate = Date(timeIntervalSinceNow: 0.1)
            try scheduler.submit(request)
        }
        #expect(done.wait())
    }
}
