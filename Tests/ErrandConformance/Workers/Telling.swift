import Errand
import Testing

extension WorkerCase {
    static var telling: [WorkerCase] {
        [
            WorkerCase("the next attempt continues from the last checkpoint") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(fixture) { worker in
                    worker.register(
                        RegisteredOperation(Fixture.operation, retries: 3) { job in
                            var page = try await job.checkpoint(as: Int.self) ?? 0
                            while page < 4 {
                                recorder.note("page \(page)")
                                page += 1
                                try await job.checkpoint(page)
                                try await job.progress(Double(page) / 4, "page \(page)")
                                if page == 2 { throw JobFailure("the paper is out", retryAfter: .zero) }
                            }
                        }
                    )
                }
                try await fixture.pushPlain("a")
                try await fixture.eventually("finished") { try await fixture.total("finished") == 1 }
                #expect(recorder.lines == ["page 0", "page 1", "page 2", "page 3"])
                let progress = try await fixture.jobEvents().filter { $0.kind == .progress }
                #expect(progress.map(\.fraction) == [0.25, 0.5, 0.75, 1])
                #expect(progress.map(\.attempt) == [1, 1, 2, 2])
                try await workers.dismiss()
            },
            WorkerCase("a run that has to stop gets its expiration handlers called and can report nothing more") {
                fixture in
                let recorder = Recorder()
                let (begun, latch) = (Latch(), Latch())
                let workers = TestWorkers(fixture) { worker in
                    worker.register(
                        RegisteredOperation(Fixture.operation, timeout: .seconds(60)) { job in
                            job.onExpiration { recorder.note("expired") }
                            begun.open()
                            do { try await latch.pass() } catch {
                                job.onExpiration { recorder.note("expired already") }
                                throw error
                            }
                        }
                    )
                }
                try await fixture.pushPlain("a")
                try await begun.pass()
                #expect(try await fixture.cancel("a") == .stopping)
                try await fixture.eventually("cancelled") { try await fixture.total("cancelled") == 1 }
                // The handlers run concurrently with the cancellation of the task, so their order may vary.
                #expect(recorder.lines.sorted() == ["expired", "expired already"])
                try await workers.dismiss()
            },
            WorkerCase("a run that ends by itself has no expiration") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(fixture) { worker in
                    worker.register(
                        RegisteredOperation(Fixture.operation) { (job: JobContext) async throws in
                            job.onExpiration { recorder.note("expired") }
                        }
                    )
                }
                try await fixture.pushPlain("a")
                try await fixture.eventually("finished") { try await fixture.total("finished") == 1 }
                try await workers.dismiss()
                #expect(recorder.lines == [])
            },
        ]
    }
}
