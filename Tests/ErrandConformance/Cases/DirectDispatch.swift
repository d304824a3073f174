import Errand
import Testing

extension ConformanceCase {
    static let directDispatch = [
        ConformanceCase("a push dispatches the only job directly to a session that waits for it and listens") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            let received = try await recorder.claim(of: id)
            #expect(received.call == recorder.session.lastCall + 1)
            #expect(received.claim.attempt == 1 && received.claim.crashes == 0)
            #expect(try await fixture.state(id) == .running)
            // The session continues as if it had made the pre-answered call.
            recorder.session.skipCall()
            #expect(try await recorder.session.report(.finished, received.claim))
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("after a lost wake-up the call brings the job, and its reports wait for the next call") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            try await fixture.pushPlain("before")
            let before = try await recorder.session.claimOne()
            let id = try await recorder.dispatchedJob()
            let reports = [TestSession.outcome(.finished, before)]
            for call in [nil, recorder.session.lastCall + 1] {
                let answer = try await recorder.session.exchange(reports: reports, wanted: 1, call: call)
                #expect(answer.isPreanswered && answer.accepted.isEmpty)
                #expect(answer.claims.map(\.id) == [id])
                let received = try await recorder.claim(of: id)
                #expect(answer.claims.map(\.token) == [received.claim.token])
            }
            #expect(try await recorder.session.exchange(reports: reports, wanted: 0).accepted == [true])
            #expect(try await fixture.status().running == 1)
        },
        ConformanceCase("a reconciliation does not release a dispatched job that has not arrived yet") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            await #expect(throws: BrokerError.self) { try await recorder.session.reconcile([]) }
            #expect(try await fixture.state(id) == .running)
            recorder.session.skipCall()
            #expect(try await recorder.session.reconcile([]).released == 1)
        },
        ConformanceCase("a dispatched job is released when its session ends") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            try await recorder.session.release()
            #expect(try await fixture.state(id) == .ready)
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("a dispatched job that has begun times out if its end is not reported") { fixture in
            let recorder = try await WakeUpRecorder(
                fixture,
                operations: [Fixture.operation: OperationDefaults(timeout: .milliseconds(1), retries: 0)],
                wait: .zero
            )
            let id = try await recorder.dispatchedJob()
            recorder.session.begin(try await recorder.claim(of: id).claim)
            _ = try await recorder.session.beat()
            try await fixture.recover(1)
            #expect(try await fixture.state(id) == .dead)
        },
        ConformanceCase("direct dispatch needs a session that accepts it, and a small job that is the only one") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            try await recorder.finishDispatchedJob()
            #expect(try await recorder.session.claim().isEmpty)
            try await fixture.pushPlain("not-asked")
            try await recorder.expectReady(1)
            try await fixture.pushPlain("two", "at-once")
            try await recorder.expectReady(2)
            let text = try JSONText(validating: "{\"text\":\"\(String(repeating: "x", count: 17_000))\"}".utf8)
            let large = try OperationDescription(Fixture.operation, arguments: text, queue: fixture.queue)
            try await fixture.push(try large.makeEnvelope())
            try await recorder.expectReady(1)
            try await fixture.push(fixture.job("expiring", expiresIn: .seconds(3600)))
            try await recorder.expectReady(1)
            try await fixture.push(fixture.job("unknown", operation: "rare"))
            try await recorder.expectReady(1)
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: true))
            try await fixture.pushPlain("with-starts")
            try await recorder.expectReady(1)
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: false))
            _ = try await recorder.dispatchedJob()
        },
    ]
}
