import Errand
import Testing

extension WorkerCase {
    static var telling: [WorkerCase] {
        [
            WorkerCase("the next attempt goes on where the last one came to") { stage in
                let diary = Diary()
                let crew = Crew(stage) { worker in
                    worker.register(
                        RegisteredOperation(Stage.operation, retries: 3) { job in
                            var page = try await job.checkpoint(as: Int.self) ?? 0
                            while page < 4 {
                                diary.note("page \(page)")
                                page += 1
                                try await job.checkpoint(page)
                                try await job.progress(Double(page) / 4, "page \(page)")
                                if page == 2 { throw JobFailure("the paper is out", retryAfter: .zero) }
                            }
                        }
                    )
                }
                try await stage.pushPlain("a")
                try await stage.eventually("finished") { try await stage.total("finished") == 1 }
                #expect(diary.lines == ["page 0", "page 1", "page 2", "page 3"])
                let told = try await stage.jobEvents().filter { $0.kind == .progress }
                #expect(told.map(\.fraction) == [0.25, 0.5, 0.75, 1])
                #expect(told.map(\.attempt) == [1, 1, 2, 2])
                try await crew.dismiss()
            },
            WorkerCase("a run that is to stop has its expiration handlers called, and cannot tell any more") { stage in
                let diary = Diary()
                let (begun, gate) = (Gate(), Gate())
                let crew = Crew(stage) { worker in
                    worker.register(
                        RegisteredOperation(Stage.operation, timeout: .seconds(60)) { job in
                            job.onExpiration { diary.note("expired") }
                            begun.open()
                            do { try await gate.pass() } catch {
                                job.onExpiration { diary.note("expired already") }
                                throw error
                            }
                        }
                    )
                }
                try await stage.pushPlain("a")
                try await begun.pass()
                #expect(try await stage.cancel("a") == .stopping)
                try await stage.eventually("cancelled") { try await stage.total("cancelled") == 1 }
                // The handlers are called while the task hears of its cancellation.
                #expect(diary.lines.sorted() == ["expired", "expired already"])
                try await crew.dismiss()
            },
            WorkerCase("a run that ends by itself has no expiration") { stage in
                let diary = Diary()
                let crew = Crew(stage) { worker in
                    worker.register(
                        RegisteredOperation(Stage.operation) { (job: JobContext) async throws in
                            job.onExpiration { diary.note("expired") }
                        }
                    )
                }
                try await stage.pushPlain("a")
                try await stage.eventually("finished") { try await stage.total("finished") == 1 }
                try await crew.dismiss()
                #expect(diary.lines == [])
            },
        ]
    }
}
