import Errand
import Logging
import Testing

extension WorkerCase {
    static var recurring: [WorkerCase] {
        [
            WorkerCase("schedules that several workers declare tick and run once each") {
                fixture in
                let recorder = Recorder()
                // All ticks: with the default catch-up, a machine that stalls would skip some, as intended.
                let schedule = try fixture.schedule(every: .seconds(1), catchUp: .all(limit: 1000))
                let crews = (0..<3).map { _ in
                    TestWorkers(
                        fixture,
                        [RegisteredOperation(Fixture.operation) { job in recorder.note(job.id) }],
                        schedules: [schedule]
                    )
                }
                try await fixture.eventually("four ticks have run") { recorder.lines.count >= 4 }
                for workers in crews { try await workers.dismiss() }
                #expect(Set(recorder.lines).count == recorder.lines.count, "no tick ran twice")
                #expect(try await fixture.scheduleRecord("s").missed == 0)
                // The two calls are not atomic: a tick that was in progress when its worker stopped may come between
                // them.
                try await fixture.eventually("the schedule counts what was pushed") {
                    try await fixture.scheduleRecord("s").pushed == fixture.total("pushed")
                }
            },
            WorkerCase("an outdated schedule does not keep a worker from working") { fixture in
                try await fixture.broker.put(try fixture.schedule(every: .seconds(3600), revision: 5))
                let recorder = Recorder()
                let workers = TestWorkers(
                    fixture,
                    [RegisteredOperation(Fixture.operation) { job in recorder.note(job.id) }],
                    schedules: [try fixture.schedule(every: .seconds(1), revision: 4)]
                )
                try await fixture.pushPlain("a")
                try await fixture.eventually("the job has run") { recorder.lines == ["a"] }
                #expect(try await fixture.scheduleRecord("s").schedule?.revision == 5)
                try await workers.dismiss()
            },
        ]
    }
}
