import Errand
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// Pushes that wait for calls which do not reach the broker fail when their own time is over.
@Suite(.timeLimit(.minutes(6))) struct ImpatientPushTests {
    @Test func `without a server many pushes fail at about the same time`() async throws {
        let broker = RedisBroker(
            try RedisAddress(url: "redis://127.0.0.1:1"),
            options: ConnectionOptions(patience: .milliseconds(500)),
            logger: Logger(label: "impatient")
        )
        defer { broker.close() }
        let job = try OperationDescription("noop").makeEnvelope()
        let start = ContinuousClock.now
        let outcomes = await withTaskGroup(of: BrokerError.Code?.self) { group in
            for _ in 0..<20_000 {
                group.addTask {
                    do throws(BrokerError) { _ = try await broker.push([job], to: "default") } catch {
                        return error.code
                    }
                    return nil
                }
            }
            var codes: Set<BrokerError.Code?> = []
            for await code in group { codes.insert(code) }
            return codes
        }
        #expect(outcomes == [.notReachable])
        // Twice their time and a pause of the connection. Two groups of 500 at a time would take 10 s.
        #expect(ContinuousClock.now - start < .seconds(8))
    }

    #if os(Linux)
        /// The outcomes of waiting pushes.
        private struct Tally: Equatable {
            var leaders = 0
            var followers = 0
            var unreached = 0
        }

        /// Lets pushes wait for the calls in progress, ends one of these, and then the next calls.
        private func play(_ count: Int, patience: Duration, after outcome: BrokerError) async throws -> Tally {
            let batcher = PushBatcher()
            let jobs = [try OperationDescription("noop").makeEnvelope()]
            for _ in 0..<2 { _ = await batcher.enter("queue", with: jobs, patience: patience) }
            // Each of them is waiting when the next one starts.
            let tickets = (0..<count).map { _ in
                Task.immediate { await batcher.enter("queue", with: jobs, patience: patience) }
            }
            batcher.leave("queue", after: .failure(outcome))
            var tally = Tally()
            for ticket in tickets {
                switch await ticket.value {
                case .lead(let followers):
                    tally.leaders += 1
                    for follower in followers { follower.tell(.success([])) }
                    batcher.leave("queue", after: .failure(BrokerError(.full, "the queue is full")))
                case .told(.success): tally.followers += 1
                case .told(.failure(let error)): tally.unreached += error.code == .notReachable ? 1 : 0
                }
            }
            return tally
        }

        @Test func `expired pushes are not sent after a call that reached no server`() async throws {
            let unreachable = BrokerError(.notReachable, "no connection")
            #expect(try await play(3000, patience: .zero, after: unreachable) == Tally(unreached: 3000))
        }

        @Test func `pushes that have time left are sent`() async throws {
            let unreachable = BrokerError(.notReachable, "no connection")
            let tally = try await play(1000, patience: .seconds(3600), after: unreachable)
            #expect(tally == Tally(leaders: 2, followers: 998))
        }

        @Test func `pushes that waited for calls that reached the broker are sent`() async throws {
            let tally = try await play(1000, patience: .zero, after: BrokerError(.full, "the queue is full"))
            #expect(tally == Tally(leaders: 2, followers: 998))
        }
    #endif
}
