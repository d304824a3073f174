import Errand
import Logging
import Testing

extension WorkerCase {
    static var recurring: [WorkerCase] {
        [
            WorkerCase("a worker's schedules tick and run, each tick once, beside other workers with the same ones") {
                stage in
                let diary = Diary()
                // All of them: with the usual catch-up a machine that stands still would skip ticks, as it should.
                let schedule = try stage.schedule(every: .seconds(1), catchUp: .all(limit: 1000))
                let crews = (0..<3).map { _ in
                    Crew(
                        stage,
                        [RegisteredOperation(Stage.operation) { job in diary.note(job.id) }],
                        schedules: [schedule]
                    )
                }
                try await stage.eventually("four ticks have run") { diary.lines.count >= 4 }
                for crew in crews { try await crew.dismiss() }
                #expect(Set(diary.lines).count == diary.lines.count, "no tick ran twice")
                #expect(try await stage.scheduleRecord("s").missed == 0)
                // Two questions: a tick that was under way when its worker left may come between them.
                try await stage.eventually("the schedule counts what was pushed") {
                    try await stage.scheduleRecord("s").pushed == stage.total("pushed")
                }
            },
            WorkerCase("a schedule that is outdated does not keep a worker from working") { stage in
                try await stage.broker.put(try stage.schedule(every: .seconds(3600), revision: 5))
                let diary = Diary()
                let crew = Crew(
                    stage,
                    [RegisteredOperation(Stage.operation) { job in diary.note(job.id) }],
                    schedules: [try stage.schedule(every: .seconds(1), revision: 4)]
                )
                try await stage.pushPlain("a")
                try await stage.eventually("the job has run") { diary.lines == ["a"] }
                #expect(try await stage.scheduleRecord("s").schedule?.revision == 5)
                try await crew.dismiss()
            },
        ]
    }
}
