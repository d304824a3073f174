import Backgroundable
import Errand
import Foundation
import Testing

@Suite("Task schedulers on a broker", .timeLimit(.minutes(6)))
struct BrokerTaskSchedulerTests {
    @Test("any worker that registered the identifier runs it, once")
    func runsElsewhere() async throws {
        let submitter = BrokerScene()
        let worker = BrokerScene(submitter.broker)
        worker.register { task in
            worker.log.note("\(task.identifier) \(task is AppRefreshTask)")
            task.setTaskCompleted(success: true)
        }
        try await submitter.submit()
        try await worker.withWorker {
            try await worker.eventually("finished") { try await worker.total("finished") == 2 }
        }
        #expect(worker.log.lines == ["prices.refresh true"])
        try await worker.checkThatItIsOver()
    }

    @Test("a request keeps its kind and its flags, and waits for its date")
    func keepsItsTerms() async throws {
        let scene = BrokerScene()
        let request = ProcessingTaskRequest(identifier: BrokerScene.identifier)
        request.requiresExternalPower = true
        request.earliestBeginDate = Date(timeIntervalSinceNow: 0.5)
        let date = try #require(request.earliestBeginDate)
        try await scene.scheduler.submit(request)
        let pending = try #require(await scene.scheduler.pendingTaskRequests().first as? ProcessingTaskRequest)
        #expect(pending.requiresExternalPower && !pending.requiresNetworkConnectivity)
        #expect(abs(try #require(pending.earliestBeginDate).timeIntervalSince(date)) < 0.002)
        scene.register { task in
            scene.log.note("\(Date() >= date) \(task is ProcessingTask)")
            task.setTaskCompleted(success: true)
        }
        try await scene.withWorker {
            try await scene.eventually("finished") { try await scene.total("finished") == 2 }
        }
        #expect(scene.log.lines == ["true true"])
        #expect(await scene.scheduler.pendingTaskRequests().isEmpty)
    }

    @Test("a newer request replaces the waiting one")
    func replaces() async throws {
        let scene = BrokerScene()
        try await scene.submit(in: 3600)
        try await scene.submit(in: 7200)
        try await scene.submit("other", in: 60)
        let pending = await scene.scheduler.pendingTaskRequests().sorted { $0.identifier < $1.identifier }
        #expect(pending.map(\.identifier) == ["other", "prices.refresh"])
        #expect(try #require(pending.last?.earliestBeginDate).timeIntervalSinceNow > 3700)
    }

    @Test("a date beyond the limit becomes the limit, and a past date means now")
    func clampsDates() async throws {
        let scene = BrokerScene()
        for date in [Date.distantFuture, Date(timeIntervalSince1970: .infinity), .distantPast] {
            let request = AppRefreshTaskRequest(identifier: BrokerScene.identifier)
            request.earliestBeginDate = date
            try await scene.scheduler.submit(request)
            let status = try await scene.broker.status(of: BrokerScene.queue).queue
            #expect(date == .distantPast ? status.ready == 1 : status.scheduled == 1)
        }
    }

    @Test("cancelled requests never run, whichever process submitted them")
    func cancels() async throws {
        let scene = BrokerScene()
        let stranger = BrokerScene(scene.broker)
        for seconds in [nil, 3600.0] {
            try await stranger.submit(in: seconds)
            try await stranger.submit("other", in: seconds)
            try await scene.scheduler.cancel(taskRequestWithIdentifier: BrokerScene.identifier)
            #expect(await scene.scheduler.pendingTaskRequests().map(\.identifier) == ["other"])
            try await scene.scheduler.cancelAllTaskRequests()
            #expect(await scene.scheduler.pendingTaskRequests().isEmpty)
        }
        // Without a waiting request there is nothing to cancel, and nothing stays behind.
        try await scene.scheduler.cancel(taskRequestWithIdentifier: BrokerScene.identifier)
        try await scene.scheduler.cancel(taskRequestWithIdentifier: "no such name, nor could it be one")
        try await scene.checkThatItIsOver()
        #expect(try await scene.total("finished") == 0)
    }

    @Test("a next launch that a task requests neither disturbs the run nor overtakes it")
    func requestsItself() async throws {
        let scene = BrokerScene()
        scene.register { task in
            task.expirationHandler = { scene.log.note("told to stop") }
            if scene.log.tasks.isEmpty {
                do { try scene.scheduler.submit(scene.request()) } catch { scene.log.note("\(error)") }
            }
            scene.log.keep(task)
        }
        try await scene.submit()
        try await scene.withWorker {
            try await scene.eventually("launched") { scene.log.tasks.count == 1 }
            try await scene.eventually("the next one gave way") { try await scene.total("dropped") > 0 }
            // Not while it is being attempted, for a moment every second.
            try await scene.eventually("it waits") { await scene.scheduler.pendingTaskRequests().count == 1 }
            #expect(scene.log.tasks.count == 1)
            #expect(scene.log.tasks.first?.isExpired == false)
            scene.log.tasks.first?.setTaskCompleted(success: true)
            try await scene.eventually("launched again") { scene.log.tasks.count == 2 }
            scene.log.tasks.last?.setTaskCompleted(success: true)
            try await scene.eventually("finished") { try await scene.total("finished") == 4 }
        }
        #expect(scene.log.lines == [])
        try await scene.checkThatItIsOver()
    }

    @Test("a task that ends without success is a dead job with a readable reason")
    func fails() async throws {
        let scene = BrokerScene()
        scene.scheduler.onCompletion = { identifier, success in scene.log.note("\(identifier) \(success)") }
        scene.register { $0.setTaskCompleted(success: false) }
        try await scene.submit()
        try await scene.withWorker {
            try await scene.eventually("dead") { try await scene.broker.status(of: BrokerScene.queue).queue.dead == 1 }
        }
        let dead = try await scene.broker.jobs(in: .dead, on: BrokerScene.queue, from: 0, count: 10).jobs
        let event = String(decoding: try #require(dead.first).lastEvent, as: UTF8.self)
        #expect(event.contains("the task was completed without success"))
        #expect(event.contains("run.prices.refresh"))
        #expect(scene.log.lines == ["prices.refresh false"])
    }

    @Test("the allowance is the job's timeout, and the task is told to stop before it ends")
    func timesOut() async throws {
        // Long enough for a busy machine to launch the task before it is over.
        let scene = BrokerScene(allowances: TaskAllowances(refresh: .milliseconds(4_500)))
        scene.register { task in
            task.expirationHandler = { scene.log.note("told to stop") }
            scene.log.keep(task)
        }
        try await scene.submit()
        try await scene.withWorker {
            try await scene.eventually("timed out") { try await scene.total("timed_out") == 1 }
            try await scene.eventually("told") { scene.log.lines == ["told to stop"] }
        }
        let dead = try await scene.broker.jobs(in: .dead, on: BrokerScene.queue, from: 0, count: 10).jobs
        #expect(String(decoding: try #require(dead.first).lastEvent, as: UTF8.self).contains("timeout of 4.5 s"))
    }

    @Test("the task of a job that is cancelled by hand is told to stop")
    func isStopped() async throws {
        let scene = BrokerScene()
        scene.register { task in
            task.expirationHandler = {
                scene.log.note("told to stop")
                task.setTaskCompleted(success: false)
            }
            scene.log.keep(task)
        }
        try await scene.submit()
        try await scene.withWorker {
            try await scene.eventually("launched") { scene.log.tasks.count == 1 }
            let running = try await scene.broker.jobs(in: .running, on: BrokerScene.queue, from: 0, count: 10).jobs
            let runs = running.map(\.id).filter { $0.hasSuffix("-run") }
            _ = try await scene.broker.cancel(runs, on: BrokerScene.queue)
            try await scene.eventually("cancelled") { try await scene.total("cancelled") == 1 }
        }
        #expect(scene.log.lines == ["told to stop"])
        try await scene.checkThatItIsOver()
    }

    @Test("ordinary threads can wait for the broker's reply while every pool thread waits")
    func submitsFromThreads() async throws {
        let scene = BrokerScene()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let submit: () -> Void = {
                        do { try scene.scheduler.submit(scene.request(in: 60)) } catch { scene.log.note("\(error)") }
                    }
                    submit()
                }
            }
        }
        #expect(scene.log.lines == [])
        #expect(await scene.scheduler.pendingTaskRequests().count == 1)
        let cancelAll: () -> Void = { scene.scheduler.cancelAllTaskRequests() }
        cancelAll()
        try await scene.checkThatItIsOver()
    }

    @Test("identifiers that cannot name an operation are not registered, and the others must be permitted")
    func refuses() async throws {
        let scene = BrokerScene()
        let long = String(repeating: "x", count: 122)
        scene.scheduler.permit(["with space", "", long])
        for identifier in ["with space", "", long] {
            #expect(!scene.scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in })
            let error = await #expect(throws: TaskScheduler.Error.self) { try await scene.submit(identifier) }
            #expect(error?.code == .unavailable)
        }
        let error = await #expect(throws: TaskScheduler.Error.self) { try await scene.submit("unknown") }
        #expect(error?.code == .notPermitted)
        #expect(scene.scheduler.operations.isEmpty)
    }

    @Test("a local scheduler reports that it needs no worker")
    func localSchedulersNeedNoWorker() {
        let local = TaskScheduler(permittedIdentifiers: ["a"])
        local.register(forTaskWithIdentifier: "a", using: nil) { _ in }
        #expect(local.operations.isEmpty)
        #expect(throws: TaskScheduler.Error.self) { try local.makeWorker() }
    }
}
