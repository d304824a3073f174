import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let sessions = [
        ConformanceCase("a lease outside of 100 ms to a day is refused") { stage in
            for lease in [Duration.milliseconds(99), .seconds(86_401)] {
                await #expect { try await stage.session(lease: lease) } throws: {
                    ($0 as? BrokerError)?.code == .refused
                }
            }
        },
        ConformanceCase("a session id belongs to one process") { stage in
            let hand = try await stage.session(pid: 1)
            let impostor = Session(
                id: hand.id,
                host: "host",
                pid: 2,
                concurrency: 1,
                queues: [stage.queue],
                lease: .seconds(60),
                operations: [:]
            )
            await #expect { try await stage.broker.register(impostor, on: stage.queue) } throws: {
                ($0 as? BrokerError)?.code == .refused
            }
            try await stage.broker.register(hand.session, on: stage.queue)
        },
        ConformanceCase("heartbeats come at once, on their own, and on demand") { stage in
            let hand = try await stage.session()
            let beats = Mutex(0)
            let (news, continuation) = AsyncStream<Int>.makeStream()
            let heartbeat = stage.broker.startHeartbeat(
                of: hand.session,
                on: [stage.queue],
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
            try await stage.push(stage.job("old", .drop))
            let claim = try await hand.claimOne()
            let lazy = stage.broker.startHeartbeat(
                of: hand.session,
                on: [stage.queue],
                every: .seconds(3600),
                begun: { _ in claim.token },
                onBeat: { _, beat in if let beat = try? beat.get() { stopped.yield(beat) } }
            )
            var reader = stops.makeAsyncIterator()
            #expect(await reader.next() == Beat(claims: 1, stops: []))
            #expect(try await stage.cancel("old") == .stopping)
            lazy.beatNow()
            #expect(await reader.next() == Beat(claims: 1, stops: [.init(id: "old", token: claim.token)]))
            lazy.stop()
        },
        ConformanceCase("a heartbeat keeps claims, and its end lets them go") { stage in
            let (hand, live) = (try await stage.session(lease: .seconds(1)), try await stage.session())
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            let (beats, continuation) = AsyncStream<Void>.makeStream()
            let heartbeat = stage.broker.startHeartbeat(
                of: hand.session,
                on: [stage.queue],
                every: .milliseconds(20),
                begun: { _ in claim.token },
                onBeat: { _, _ in continuation.yield() }
            )
            let end = ContinuousClock.now + .milliseconds(1500)
            for await _ in beats where ContinuousClock.now > end { break }
            #expect(try await stage.broker.recover(on: stage.queue).recovered == 0)
            heartbeat.stop()
            try await stage.recover(1)
            #expect(try await live.claimedIDs() == ["a"])
        },
        ConformanceCase("a waiting session is hinted when work comes, and when something is to stop") { stage in
            let hand = try await stage.session()
            let (hints, continuation) = AsyncStream<Hint>.makeStream()
            let subscription = stage.broker.hints(for: hand.session, on: [stage.queue]) { continuation.yield($0) }
            let seen = Mutex<[Hint]>([])
            let reader = Task { for await hint in hints { seen.withLock { $0.append(hint) } } }
            defer { reader.cancel() }

            // Hints may be lost, the more so while the subscription is not there yet: so again until one comes.
            var number = 0
            try await stage.eventually("a hint of work", every: .milliseconds(50)) {
                if seen.withLock({ $0.contains(.work(queue: stage.queue)) }) { return true }
                while try await !hand.claim().isEmpty {}
                number += 1
                try await stage.pushPlain("j\(number)")
                return false
            }
            try await stage.push(stage.job("old", .drop))
            while try await !hand.claim().isEmpty {}
            try await stage.eventually("a hint to stop", every: .milliseconds(50)) {
                if seen.withLock({ $0.contains(.stop(queue: stage.queue)) }) { return true }
                _ = try await stage.cancel("old")
                return false
            }
            subscription.cancel()
        },
        ConformanceCase("who looked for work in a paused queue is hinted when it goes on") { stage in
            let hand = try await stage.session()
            let (hints, continuation) = AsyncStream<Hint>.makeStream()
            let subscription = stage.broker.hints(for: hand.session, on: [stage.queue]) { continuation.yield($0) }
            defer { subscription.cancel() }
            let seen = Mutex(false)
            let reader = Task {
                for await hint in hints where hint == .work(queue: stage.queue) { seen.withLock { $0 = true } }
            }
            defer { reader.cancel() }
            try await stage.eventually("a hint", every: .milliseconds(50)) {
                if seen.withLock(\.self) { return true }
                try await stage.broker.configure(stage.queue, QueueSettings(isPaused: true))
                #expect(try await hand.exchange(wanted: 1).isPaused)
                try await stage.broker.configure(stage.queue, QueueSettings(isPaused: false))
                return false
            }
        },
        ConformanceCase("release ends a session, also one that holds nothing") { stage in
            let hand = try await stage.session()
            #expect(try await stage.broker.status(of: stage.queue).sessions.map(\.id) == [hand.id])
            try await hand.release()
            try await hand.release()
            #expect(try await stage.broker.status(of: stage.queue).sessions == [])
        },
    ]
}
