import Errand
import Logging
import Testing

extension ConformanceCase {
    static let schedules = [
        ConformanceCase("a tick is pushed exactly once, however many propose it") { fixture in
            let schedule = try fixture.schedule(every: .seconds(1))
            #expect(try await fixture.broker.put(schedule) == .created)
            let tick = try await fixture.awaitDue("s")
            let proposal = try await fixture.proposal("s")
            let verdicts = await withTaskGroup(of: TickOutcome?.self) { group in
                for _ in 0..<16 { group.addTask { try? await fixture.broker.tick(proposal, on: fixture.queue) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(verdicts.filter { $0 != .behind }.count == 1)
            #expect(verdicts.allSatisfy { $0 != nil })
            #expect(try await fixture.total("pushed") == proposal.ticks.count)
            let record = try await fixture.scheduleRecord("s")
            #expect(record.pushed == proposal.ticks.count)
            #expect(record.lastTick == proposal.ticks.last)
            #expect(record.nextTick == proposal.next)
            #expect(proposal.ticks.first == tick)
            let claims = try await fixture.session().claim()
            #expect(claims.count == proposal.ticks.count)
            let first = try JobEnvelope.read(stored: try #require(claims.first).body).description
            #expect(first.meta == ["schedule": "s", "tick_ms": "\(tick)"])
            #expect(first.operation == Fixture.operation)
        },
        ConformanceCase("a new schedule ticks from now on, not since 1970") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(3600)))
            let record = try await fixture.scheduleRecord("s")
            let due = try await fixture.broker.dueSchedules(on: fixture.queue, skipping: 0)
            #expect(due.schedules == [])
            #expect(try #require(record.nextTick) > due.now)
            #expect(try #require(record.nextTick) <= due.now + 3_600_000)
            #expect(record.lastTick == nil)
            let promotion = try await fixture.broker.promote(on: fixture.queue)
            #expect(!promotion.hasDueSchedules)
            #expect(try #require(promotion.nextDue) <= 3_600_000, "the timetable counts among what is to come")
        },
        ConformanceCase("a tick that is outdated or early changes nothing") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            let tick = try await fixture.awaitDue("s")
            let proposal = try await fixture.proposal("s")
            for wrong in [
                proposal.changed(expected: tick + 1000), proposal.changed(expected: 0), proposal.changed(digest: "0"),
                proposal.changed(schedule: "other"),
            ] {
                #expect(try await fixture.broker.tick(wrong, on: fixture.queue) == .behind)
            }
            let far = tick + 3_600_000
            let early = proposal.changed(ticks: [tick, far], next: far + 1000)
            #expect(try await fixture.broker.tick(early, on: fixture.queue) == .early)
            await #expect(throws: BrokerError.self, "the timetable never goes back") {
                try await fixture.broker.tick(proposal.changed(next: tick), on: fixture.queue)
            }
            #expect(try await fixture.status().ready == 0)
            #expect(try await fixture.scheduleRecord("s").pushed == 0)
            #expect(try await fixture.scheduleRecord("s").nextTick == tick)
        },
        ConformanceCase("promotion reports due schedules") { fixture in
            #expect(try await fixture.broker.promote(on: fixture.queue).hasDueSchedules == false)
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            _ = try await fixture.awaitDue("s")
            let promotion = try await fixture.broker.promote(on: fixture.queue)
            #expect(promotion.hasDueSchedules)
            #expect(promotion.nextDue == nil, "a schedule that is due is no reason to ask again at once")
        },
        ConformanceCase("a paused schedule does not tick, and continues from now when it is resumed") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            #expect(try await fixture.broker.pauseSchedule("s", on: fixture.queue))
            #expect(try await fixture.scheduleRecord("s").isPaused)
            #expect(try await fixture.broker.put(try fixture.schedule(every: .seconds(2), priority: 7)) == .changed)
            #expect(try await fixture.scheduleRecord("s").isPaused, "a change does not resume it")
            let before = try await fixture.broker.dueSchedules(on: fixture.queue, skipping: 0).now
            #expect(try await fixture.broker.resumeSchedule("s", on: fixture.queue))
            let record = try await fixture.scheduleRecord("s")
            let after = try await fixture.broker.dueSchedules(on: fixture.queue, skipping: 0).now
            #expect(try #require(record.nextTick) > before)
            #expect(try #require(record.nextTick) <= after + 2000)
            #expect(try await fixture.broker.resumeSchedule("s", on: fixture.queue))
            #expect(try await fixture.broker.pauseSchedule("none", on: fixture.queue) == false)
            #expect(try await fixture.broker.resumeSchedule("none", on: fixture.queue) == false)
        },
        ConformanceCase("resuming a schedule that is not paused leaves its tick due") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            let tick = try await fixture.awaitDue("s")
            #expect(try await fixture.broker.resumeSchedule("s", on: fixture.queue))
            #expect(try await fixture.scheduleRecord("s").nextTick == tick)
        },
        ConformanceCase("of definitions that are put at once, the highest revision stays") { fixture in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for revision in (1...8).reversed() {
                    let schedule = try fixture.schedule(every: .seconds(3600), revision: revision)
                    group.addTask { _ = try await fixture.broker.put(schedule) }
                }
                try await group.waitForAll()
            }
            #expect(try await fixture.scheduleRecord("s").schedule?.revision == 8)
        },
        ConformanceCase("a schedule that is deleted while it is stored keeps the revision that it had") { fixture in
            for revision in stride(from: 1, to: 16, by: 2) {
                try await fixture.broker.put(try fixture.schedule(every: .seconds(3600), revision: revision))
                let next = try fixture.schedule(every: .seconds(3600), revision: revision + 1)
                async let put = fixture.broker.put(next)
                async let deleted = fixture.broker.deleteSchedule("s", on: fixture.queue)
                _ = try await (put, deleted)
                if try await fixture.broker.schedule("s", on: fixture.queue) == nil {
                    #expect(try await fixture.broker.put(next) == .outdated(storedRevision: revision + 1))
                }
            }
        },
        ConformanceCase("ticks of a paused queue are pushed and wait") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: true))
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            _ = try await fixture.awaitDue("s")
            #expect(try await fixture.ticker.work().pushed > 0)
            #expect(try await fixture.status().ready > 0)
        },
        ConformanceCase("a schedule is replaced only by its own or a higher revision") { fixture in
            let old = try fixture.schedule(every: .seconds(3600), revision: 4)
            #expect(try await fixture.broker.put(old) == .created)
            #expect(try await fixture.broker.put(old) == .unchanged)
            let next = try await fixture.scheduleRecord("s").nextTick
            let older = try fixture.schedule(every: .seconds(60), revision: 3)
            #expect(try await fixture.broker.put(older) == .outdated(storedRevision: 4))
            #expect(try await fixture.scheduleRecord("s").schedule == old)
            let same = try fixture.schedule(every: .seconds(3600), priority: 9, revision: 4)
            #expect(try await fixture.broker.put(same) == .changed)
            #expect(
                try await fixture.scheduleRecord("s").nextTick == next,
                "the timing is the same, so is the next tick"
            )
            #expect(
                try await fixture.broker.put(try fixture.schedule(every: .seconds(86_400), revision: 5)) == .changed
            )
            #expect(try await fixture.scheduleRecord("s").schedule?.revision == 5)
        },
        ConformanceCase("a schedule changed by a person is replaced only by a higher revision") { fixture in
            let file = "/etc/errand/jobs.yaml"
            let declared = try fixture.schedule(every: .seconds(3600), revision: 4).from(.catalogue(file: file))
            #expect(try await fixture.broker.put(declared) == .created)
            let byHand = try fixture.schedule(every: .seconds(60), revision: 4)
                .from(.person(edited: 1_795_215_724_000, catalogue: file))
            #expect(try await fixture.broker.put(byHand) == .changed)
            #expect(try await fixture.broker.put(declared) == .outdated(storedRevision: 4))
            #expect(try await fixture.scheduleRecord("s").schedule == byHand)
            let next = try await fixture.scheduleRecord("s").nextTick
            // A program that declares the same schedule owns it again, without a new tick.
            let same = byHand.from(.catalogue(file: file))
            #expect(try await fixture.broker.put(same) == .unchanged)
            #expect(try await fixture.scheduleRecord("s").schedule == same)
            #expect(try await fixture.scheduleRecord("s").nextTick == next)
            #expect(try await fixture.broker.put(byHand) == .unchanged)
            #expect(
                try await fixture.scheduleRecord("s").schedule == same,
                "a person who changes nothing takes nothing over"
            )
            #expect(try await fixture.broker.put(declared) == .changed, "of the same revision, the last one put counts")
            #expect(try await fixture.broker.put(byHand) == .changed)
            let newer = try fixture.schedule(every: .seconds(3600), revision: 5).from(.catalogue(file: file))
            #expect(try await fixture.broker.put(newer) == .changed)
            #expect(try await fixture.scheduleRecord("s").schedule == newer)
        },
        ConformanceCase("older code does not restore a deleted schedule") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1), revision: 2))
            _ = try await fixture.awaitDue("s")
            let proposal = try await fixture.proposal("s")
            _ = try await fixture.broker.tick(proposal, on: fixture.queue)
            // One tick; on a busy machine also those that became due since.
            #expect(try await fixture.broker.schedule("s", on: fixture.queue)?.pushed == proposal.jobs.count)
            #expect(try await fixture.broker.deleteSchedule("s", on: fixture.queue))
            #expect(try await fixture.broker.deleteSchedule("s", on: fixture.queue) == false)
            #expect(try await fixture.broker.tick(proposal, on: fixture.queue) == .behind)
            #expect(try await fixture.broker.dueSchedules(on: fixture.queue, skipping: 0).schedules == [])
            #expect(try await fixture.broker.schedule("s", on: fixture.queue) == nil)
            #expect(try await fixture.broker.schedules(on: fixture.queue) == [])
            for revision in [0, 2] {
                let old = try fixture.schedule(every: .seconds(1), revision: revision)
                #expect(try await fixture.broker.put(old) == .outdated(storedRevision: 2))
            }
            #expect(try await fixture.broker.put(try fixture.schedule(every: .seconds(1), revision: 3)) == .created)
            let new = try await fixture.broker.schedule("s", on: fixture.queue)
            #expect(new?.pushed == 0 && new?.lastTick == nil, "it counts again from 0")
        },
        ConformanceCase("a deletion is remembered after ten thousand others") { fixture in
            try await fixture.broker.put(try fixture.schedule("early", every: .seconds(60)))
            _ = try await fixture.broker.deleteSchedule("early", on: fixture.queue)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<4 {
                    group.addTask {
                        for number in 0..<2500 {
                            let name = "s\(part)-\(number)"
                            try await fixture.broker.put(try fixture.schedule(name, every: .seconds(60)))
                            _ = try await fixture.broker.deleteSchedule(name, on: fixture.queue)
                        }
                    }
                }
                try await group.waitForAll()
            }
            for name in ["early", "s0-0", "s3-2499"] {
                let again = try fixture.schedule(name, every: .seconds(60))
                #expect(try await fixture.broker.put(again) == .outdated(storedRevision: 0))
            }
            #expect(try await fixture.broker.schedules(on: fixture.queue) == [])
        },
        ConformanceCase("schedules are listed by name") { fixture in
            for name in ["b", "a.b", "A-1"] {
                try await fixture.broker.put(try fixture.schedule(name, every: .seconds(60)))
            }
            #expect(try await fixture.broker.schedules(on: fixture.queue).map(\.name) == ["A-1", "a.b", "b"])
            #expect(try await fixture.broker.schedule("c", on: fixture.queue) == nil)
            #expect(try await fixture.broker.queues().contains(fixture.queue), "the queue is known by its schedule")
        },
        ConformanceCase("many schedules are listed in pages without gaps") { fixture in
            let names = (0..<1000).map { "s\($0)" }
            for name in names { try await fixture.broker.put(try fixture.schedule(name, every: .seconds(60))) }
            let first = try await fixture.broker.schedules(on: fixture.queue, from: nil)
            #expect((90..<200).contains(first.records.count))
            #expect(first.next != nil)
            #expect(try await fixture.broker.schedules(on: fixture.queue).map(\.name) == names.sorted())
        },
        ConformanceCase("a manual run leaves the ticks as they are, also for a paused schedule") { fixture in
            try await fixture.broker.put(try fixture.schedule(every: .seconds(3600)))
            let before = try await fixture.scheduleRecord("s")
            let receipt = try #require(try await fixture.broker.runSchedule("s", on: fixture.queue))
            #expect(receipt.outcome == .accepted)
            #expect(try await fixture.scheduleRecord("s") == before)
            _ = try await fixture.broker.pauseSchedule("s", on: fixture.queue)
            let second = try #require(try await fixture.broker.runSchedule("s", on: fixture.queue))
            #expect(second.id != receipt.id)
            #expect(try await fixture.status().ready == 2)
            #expect(try await fixture.broker.runSchedule("none", on: fixture.queue) == nil)
        },
        ConformanceCase("ticks of a full queue stay due") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 1))
            try await fixture.pushPlain("a")
            try await fixture.broker.put(try fixture.schedule(every: .seconds(1)))
            let tick = try await fixture.awaitDue("s")
            #expect(try await fixture.ticker.work().pushed == 0)
            #expect(try await fixture.scheduleRecord("s").nextTick == tick)
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.ticker.work().pushed == 1, "as many as there is room for")
            #expect(try await fixture.scheduleRecord("s").lastTick == tick)
        },
    ]

    static let overlaps = [
        ConformanceCase("overlap allow: every tick's job runs") { fixture in
            let receipts = try await fixture.runsByHand(.allow, 2)
            #expect(receipts.map(\.outcome) == [.accepted, .accepted])
        },
        ConformanceCase("overlap skip: a new job is dropped if one waits or runs") { fixture in
            #expect(try await fixture.runsByHand(.skip, 2).map(\.outcome) == [.accepted, .dropped])
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            #expect(try await fixture.runsByHand(.skip, 1).map(\.outcome) == [.dropped])
            try await session.report(.finished, claim)
            #expect(try await fixture.runsByHand(.skip, 1).map(\.outcome) == [.accepted])
        },
        ConformanceCase("overlap after: a tick waits for the running job, which is not stopped") { fixture in
            let first = try #require(try await fixture.runsByHand(.after, 1).first)
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            let later = try await fixture.runsByHand(.after, 3)
            #expect(later.map(\.outcome) == [.deferred, .dropped, .dropped])
            #expect(later.map(\.holder) == [first.id, later[0].id, later[0].id])
            #expect(try await session.beat().stops == [])
            #expect(try await fixture.status().deferred == 1)
            #expect(try await session.claim().isEmpty, "it waits")
            #expect(
                try await fixture.broker.audit(fixture.queue, repair: true) == [],
                "no run is told to stop for it"
            )
            #expect(try await session.beat().stops == [])
            #expect(try await session.report(.finished, claim))
            #expect(try await session.claimOne().id == later[0].id)
        },
        ConformanceCase("overlap after: at most one tick waits for the running job") { fixture in
            let receipts = try await fixture.runsByHand(.after, 2)
            #expect(receipts.map(\.outcome) == [.accepted, .dropped])
        },
        ConformanceCase("overlap replace: the old job is replaced, and stopped if it runs") { fixture in
            #expect(try await fixture.runsByHand(.replace, 2).map(\.outcome) == [.accepted, .replaced])
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            let later = try await fixture.runsByHand(.replace, 2)
            #expect(later.map(\.outcome) == [.deferred, .deferred])
            #expect(try await session.beat().stops.map(\.id) == [claim.id])
            try await session.report(.cancelled, claim)
            #expect(try await session.claimOne().id == later[1].id)
        },
        ConformanceCase("names of other jobs do not collide with those of a schedule") { fixture in
            try await fixture.push(fixture.job("a", .drop, name: Fixture.operation + " {}"))
            #expect(try await fixture.runsByHand(.skip, 1).map(\.outcome) == [.accepted])
        },
    ]
}

extension Fixture {
    func schedule(
        _ name: String = "s",
        every interval: Duration,
        overlap: Schedule.Overlap = .allow,
        catchUp: Schedule.CatchUp = .latest,
        priority: Int? = nil,
        revision: Int = 0
    ) throws -> Schedule {
        try Schedule(
            name,
            .every(interval),
            pushing: OperationDescription(Self.operation, queue: queue, priority: priority),
            catchUp: catchUp,
            overlap: overlap,
            revision: revision
        )
    }

    var ticker: Ticker { Ticker(broker, queue: queue, logger: Logger(label: "ticker")) }

    func scheduleRecord(_ name: String) async throws -> ScheduleRecord {
        try #require(try await broker.schedule(name, on: queue))
    }

    /// Waits until a schedule's tick is due and returns the tick.
    func awaitDue(_ name: String) async throws -> Int64 {
        var tick: Int64?
        try await eventually("schedule \(name) is due") {
            let due = try await broker.dueSchedules(on: queue, skipping: 0)
            tick = due.schedules.first { $0.name == name }?.nextTick
            return tick != nil
        }
        return try #require(tick)
    }

    func proposal(_ name: String) async throws -> TickProposal {
        let now = try await broker.dueSchedules(on: queue, skipping: 0).now
        let record = try await scheduleRecord(name)
        return try TickProposal(record, try #require(record.schedule), now: now)
    }

    /// Runs a schedule with this overlap by hand, this number of times.
    func runsByHand(_ overlap: Schedule.Overlap, _ count: Int) async throws -> [Receipt] {
        _ = try await broker.put(try schedule(every: .seconds(3600), overlap: overlap))
        var receipts: [Receipt] = []
        for _ in 0..<count { receipts.append(try #require(try await broker.runSchedule("s", on: queue))) }
        return receipts
    }
}

extension TickProposal {
    fileprivate func changed(
        schedule: String? = nil,
        digest: String? = nil,
        expected: Int64? = nil,
        ticks: [Int64]? = nil,
        next: Int64? = nil
    ) -> TickProposal {
        TickProposal(
            schedule: schedule ?? self.schedule,
            digest: digest ?? self.digest,
            expected: expected ?? self.expected,
            ticks: ticks ?? self.ticks,
            next: next ?? self.next,
            missed: missed,
            waits: waits,
            jobs: jobs
        )
    }
}
