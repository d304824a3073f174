import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let sessions = [
        ConformanceCase("a lease below 100 ms or above a day is rejected") { fixture in
            for lease in [Duration.milliseconds(99), .seconds(86_401)] {
                await #expect { try await fixture.session(lease: lease) } throws: {
                    ($0 as? BrokerError)?.code == .refused
                }
            }
        },
        ConformanceCase("a session id belongs to one process") { fixture in
            let session = try await fixture.session(pid: 1)
            let impostor = Session(
                id: session.id,
                host: "host",
                pid: 2,
                concurrency: 1,
                queues: [fixture.queue],
                lease: .seconds(60),
                operations: [:]
            )
            await #expect { try await fixture.broker.register(impostor, on: fixture.queue) } throws: {
                ($0 as? BrokerError)?.code == .refused
            }
            try await fixture.broker.register(session.session, on: fixture.queue)
        },
        ConformanceCase("heartbeats are sent at the start, regularly and on demand") { fixture in
            let session = try await fixture.session()
            let beats = Mutex(0)
            let (news, continuation) = AsyncStream<Int>.makeStream()
            let heartbeat = fixture.broker.startHeartbeat(
                of: session.session,
                on: [fixture.queue],
                every: .milliseconds(20),
                begun: { _ in 0 },
                onBeat: { _, beat in
                    #expect((try? beat.get())?.claims == 0)
                    let count = beats.withLock { count in
                        count += 1
                        return count
                    }
                    continuation.yield(count)
                }
            )
            for await count in news where count >= 3 { break }
            heartbeat.stop()

            let (stops, stopped) = AsyncStream<Beat>.makeStream()
            try await fixture.push(fixture.job("old", .drop))
            let claim = try await session.claimOne()
            let lazy = fixture.broker.startHeartbeat(
                of: session.session,
                on: [fixture.queue],
                every: .seconds(3600),
                begun: { _ in claim.token },
                onBeat: { _, beat in if let beat = try? beat.get() { stopped.yield(beat) } }
            )
            var reader = stops.makeAsyncIterator()
            #expect(await reader.next() == Beat(claims: 1, stops: []))
            #expect(try await fixture.cancel("old") == .stopping)
            lazy.beatNow()
            #expect(await reader.next() == Beat(claims: 1, stops: [.init(id: "old", token: claim.token)]))
            lazy.stop()
        },
        ConformanceCase("heartbeats keep claims; without them the claims are recovered") { fixture in
            let (session, live) = (try await fixture.session(lease: .seconds(1)), try await fixture.session())
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            let (beats, continuation) = AsyncStream<Void>.makeStream()
            let heartbeat = fixture.broker.startHeartbeat(
                of: session.session,
                on: [fixture.queue],
                every: .milliseconds(20),
                begun: { _ in claim.token },
                onBeat: { _, _ in continuation.yield() }
            )
            let end = ContinuousClock.now + .milliseconds(1500)
            for await _ in beats where ContinuousClock.now > end { break }
            #expect(try await fixture.broker.recover(on: fixture.queue).recovered == 0)
            heartbeat.stop()
            try await fixture.recover(1)
            #expect(try await live.claimedIDs() == ["a"])
        },
        ConformanceCase("a waiting session is woken up for new work and for runs that have to stop") { fixture in
            let session = try await fixture.session()
            let (wakeUps, continuation) = AsyncStream<WakeUp>.makeStream()
            let subscription = fixture.broker.wakeUps(for: session.session, on: [fixture.queue]) {
                continuation.yield($0)
            }
            let seen = Mutex<[WakeUp]>([])
            let reader = Task { for await wakeUp in wakeUps { seen.withLock { $0.append(wakeUp) } } }
            defer { reader.cancel() }

            // A wake-up may be lost, especially before the subscription is established, so push until one arrives.
            var number = 0
            try await fixture.eventually("a wake-up for work", every: .milliseconds(50)) {
                if seen.withLock({ $0.contains(.work(queue: fixture.queue)) }) { return true }
                while try await !session.claim().isEmpty {}
                number += 1
                try await fixture.pushPlain("j\(number)")
                return false
            }
            try await fixture.push(fixture.job("old", .drop))
            while try await !session.claim().isEmpty {}
            try await fixture.eventually("a wake-up to stop", every: .milliseconds(50)) {
                if seen.withLock({ $0.contains(.stop(queue: fixture.queue)) }) { return true }
                _ = try await fixture.cancel("old")
                return false
            }
            subscription.cancel()
        },
        ConformanceCase("a session that waits for a paused queue is woken up when it resumes") { fixture in
            let session = try await fixture.session()
            let (wakeUps, continuation) = AsyncStream<WakeUp>.makeStream()
            let subscription = fixture.broker.wakeUps(for: session.session, on: [fixture.queue]) {
                continuation.yield($0)
            }
            defer { subscription.cancel() }
            let seen = Mutex(false)
            let reader = Task {
                for await wakeUp in wakeUps where wakeUp == .work(queue: fixture.queue) { seen.withLock { $0 = true } }
            }
            defer { reader.cancel() }
            try await fixture.eventually("a wake-up", every: .milliseconds(50)) {
                if seen.withLock(\.self) { return true }
                try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: true))
                #expect(try await session.exchange(wanted: 1).isPaused)
                try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: false))
                return false
            }
        },
        ConformanceCase("release ends a session, also one without claims") { fixture in
            let session = try await fixture.session()
            #expect(try await fixture.broker.status(of: fixture.queue).sessions.map(\.id) == [session.id])
            try await session.release()
            try await session.release()
            #expect(try await fixture.broker.status(of: fixture.queue).sessions == [])
        },
    ]
}
