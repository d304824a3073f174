import Errand
import Logging
import Testing

extension ConformanceCase {
    static let schedules = [
        ConformanceCase("a tick is pushed exactly once, however many propose it") { stage in
            let schedule = try stage.schedule(every: .seconds(1))
            #expect(try await stage.broker.put(schedule) == .created)
            let tick = try await stage.awaitDue("s")
            let proposal = try await stage.proposal("s")
            let verdicts = await withTaskGroup(of: TickVerdict?.self) { group in
                for _ in 0..<16 { group.addTask { try? await stage.broker.tick(proposal, on: stage.queue) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(verdicts.filter { $0 != .behind }.count == 1)
            #expect(verdicts.allSatisfy { $0 != nil })
            #expect(try await stage.total("pushed") == proposal.ticks.count)
            let record = try await stage.scheduleRecord("s")
            #expect(record.pushed == proposal.ticks.count)
            #expect(record.lastTick == proposal.ticks.last)
            #expect(record.nextTick == proposal.next)
            #expect(proposal.ticks.first == tick)
            let claims = try await stage.session().claim()
            #expect(claims.count == proposal.ticks.count)
            let first = try JobEnvelope.read(stored: try #require(claims.first).body).description
            #expect(first.meta == ["schedule": "s", "tick_ms": "\(tick)"])
            #expect(first.operation == Stage.operation)
        },
        ConformanceCase("a schedule that is new ticks from now on, not since 1970") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(3600)))
            let record = try await stage.scheduleRecord("s")
            let due = try await stage.broker.dueSchedules(on: stage.queue, skipping: 0)
            #expect(due.schedules == [])
            #expect(try #require(record.nextTick) > due.now)
            #expect(try #require(record.nextTick) <= due.now + 3_600_000)
            #expect(record.lastTick == nil)
            let promotion = try await stage.broker.promote(on: stage.queue)
            #expect(!promotion.hasDueSchedules)
            #expect(try #require(promotion.nextDue) <= 3_600_000, "the timetable counts among what is to come")
        },
        ConformanceCase("what is behind or early changes nothing") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            let tick = try await stage.awaitDue("s")
            let proposal = try await stage.proposal("s")
            for wrong in [
                proposal.changed(expected: tick + 1000), proposal.changed(expected: 0), proposal.changed(digest: "0"),
                proposal.changed(schedule: "other"),
            ] {
                #expect(try await stage.broker.tick(wrong, on: stage.queue) == .behind)
            }
            let far = tick + 3_600_000
            let early = proposal.changed(ticks: [tick, far], next: far + 1000)
            #expect(try await stage.broker.tick(early, on: stage.queue) == .early)
            await #expect(throws: BrokerError.self, "the timetable never goes back") {
                try await stage.broker.tick(proposal.changed(next: tick), on: stage.queue)
            }
            #expect(try await stage.status().ready == 0)
            #expect(try await stage.scheduleRecord("s").pushed == 0)
            #expect(try await stage.scheduleRecord("s").nextTick == tick)
        },
        ConformanceCase("a due schedule is told by promotion, and not when there is none") { stage in
            #expect(try await stage.broker.promote(on: stage.queue).hasDueSchedules == false)
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            _ = try await stage.awaitDue("s")
            let promotion = try await stage.broker.promote(on: stage.queue)
            #expect(promotion.hasDueSchedules)
            #expect(promotion.nextDue == nil, "a schedule that is due is no reason to ask again at once")
        },
        ConformanceCase("a paused schedule does not tick, and goes on from now when it is resumed") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            #expect(try await stage.broker.pauseSchedule("s", on: stage.queue))
            #expect(try await stage.scheduleRecord("s").isPaused)
            #expect(try await stage.broker.put(try stage.schedule(every: .seconds(2), priority: 7)) == .changed)
            #expect(try await stage.scheduleRecord("s").isPaused, "a change does not resume it")
            let before = try await stage.broker.dueSchedules(on: stage.queue, skipping: 0).now
            #expect(try await stage.broker.resumeSchedule("s", on: stage.queue))
            let record = try await stage.scheduleRecord("s")
            let after = try await stage.broker.dueSchedules(on: stage.queue, skipping: 0).now
            #expect(try #require(record.nextTick) > before)
            #expect(try #require(record.nextTick) <= after + 2000)
            #expect(try await stage.broker.resumeSchedule("s", on: stage.queue))
            #expect(try await stage.broker.pauseSchedule("none", on: stage.queue) == false)
            #expect(try await stage.broker.resumeSchedule("none", on: stage.queue) == false)
        },
        ConformanceCase("resuming a schedule that is not paused leaves its tick due") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            let tick = try await stage.awaitDue("s")
            #expect(try await stage.broker.resumeSchedule("s", on: stage.queue))
            #expect(try await stage.scheduleRecord("s").nextTick == tick)
        },
        ConformanceCase("of definitions that are put at once, the highest revision stays") { stage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for revision in (1...8).reversed() {
                    let schedule = try stage.schedule(every: .seconds(3600), revision: revision)
                    group.addTask { _ = try await stage.broker.put(schedule) }
                }
                try await group.waitForAll()
            }
            #expect(try await stage.scheduleRecord("s").schedule?.revision == 8)
        },
        ConformanceCase("a schedule that is deleted while it is put leaves the revision that was there") { stage in
            for revision in stride(from: 1, to: 16, by: 2) {
                try await stage.broker.put(try stage.schedule(every: .seconds(3600), revision: revision))
                let next = try stage.schedule(every: .seconds(3600), revision: revision + 1)
                async let put = stage.broker.put(next)
                async let deleted = stage.broker.deleteSchedule("s", on: stage.queue)
                _ = try await (put, deleted)
                if try await stage.broker.schedule("s", on: stage.queue) == nil {
                    #expect(try await stage.broker.put(next) == .outdated(storedRevision: revision + 1))
                }
            }
        },
        ConformanceCase("ticks of a paused queue are pushed and wait") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: true))
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            _ = try await stage.awaitDue("s")
            #expect(try await stage.ticker.work().pushed > 0)
            #expect(try await stage.status().ready > 0)
        },
        ConformanceCase("a schedule gives way to its own or a higher revision only") { stage in
            let old = try stage.schedule(every: .seconds(3600), revision: 4)
            #expect(try await stage.broker.put(old) == .created)
            #expect(try await stage.broker.put(old) == .unchanged)
            let next = try await stage.scheduleRecord("s").nextTick
            let older = try stage.schedule(every: .seconds(60), revision: 3)
            #expect(try await stage.broker.put(older) == .outdated(storedRevision: 4))
            #expect(try await stage.scheduleRecord("s").schedule == old)
            let same = try stage.schedule(every: .seconds(3600), priority: 9, revision: 4)
            #expect(try await stage.broker.put(same) == .changed)
            #expect(try await stage.scheduleRecord("s").nextTick == next, "the timing is the same, so is the next tick")
            #expect(try await stage.broker.put(try stage.schedule(every: .seconds(86_400), revision: 5)) == .changed)
            #expect(try await stage.scheduleRecord("s").schedule?.revision == 5)
        },
        ConformanceCase("what a person has changed gives way to a higher revision only") { stage in
            let file = "/etc/errand/jobs.yaml"
            let declared = try stage.schedule(every: .seconds(3600), revision: 4).from(.catalogue(file: file))
            #expect(try await stage.broker.put(declared) == .created)
            let byHand = try stage.schedule(every: .seconds(60), revision: 4)
                .from(.person(edited: 1_795_215_724_000, catalogue: file))
            #expect(try await stage.broker.put(byHand) == .changed)
            #expect(try await stage.broker.put(declared) == .outdated(storedRevision: 4))
            #expect(try await stage.scheduleRecord("s").schedule == byHand)
            let next = try await stage.scheduleRecord("s").nextTick
            // What a program declares just so is its own again, without a new tick.
            let same = byHand.from(.catalogue(file: file))
            #expect(try await stage.broker.put(same) == .unchanged)
            #expect(try await stage.scheduleRecord("s").schedule == same)
            #expect(try await stage.scheduleRecord("s").nextTick == next)
            #expect(try await stage.broker.put(byHand) == .unchanged)
            #expect(
                try await stage.scheduleRecord("s").schedule == same,
                "a person who changes nothing takes nothing over"
            )
            #expect(try await stage.broker.put(declared) == .changed, "of the same revision, the last one put counts")
            #expect(try await stage.broker.put(byHand) == .changed)
            let newer = try stage.schedule(every: .seconds(3600), revision: 5).from(.catalogue(file: file))
            #expect(try await stage.broker.put(newer) == .changed)
            #expect(try await stage.scheduleRecord("s").schedule == newer)
        },
        ConformanceCase("a deleted schedule is not brought back by older code") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(1), revision: 2))
            _ = try await stage.awaitDue("s")
            let proposal = try await stage.proposal("s")
            _ = try await stage.broker.tick(proposal, on: stage.queue)
            // One tick; on a machine that is busy, those that have come since as well.
            #expect(try await stage.broker.schedule("s", on: stage.queue)?.pushed == proposal.jobs.count)
            #expect(try await stage.broker.deleteSchedule("s", on: stage.queue))
            #expect(try await stage.broker.deleteSchedule("s", on: stage.queue) == false)
            #expect(try await stage.broker.tick(proposal, on: stage.queue) == .behind)
            #expect(try await stage.broker.dueSchedules(on: stage.queue, skipping: 0).schedules == [])
            #expect(try await stage.broker.schedule("s", on: stage.queue) == nil)
            #expect(try await stage.broker.schedules(on: stage.queue) == [])
            for revision in [0, 2] {
                let old = try stage.schedule(every: .seconds(1), revision: revision)
                #expect(try await stage.broker.put(old) == .outdated(storedRevision: 2))
            }
            #expect(try await stage.broker.put(try stage.schedule(every: .seconds(1), revision: 3)) == .created)
            let new = try await stage.broker.schedule("s", on: stage.queue)
            #expect(new?.pushed == 0 && new?.lastTick == nil, "it counts anew")
        },
        ConformanceCase("a deletion outlives ten thousand others") { stage in
            try await stage.broker.put(try stage.schedule("early", every: .seconds(60)))
            _ = try await stage.broker.deleteSchedule("early", on: stage.queue)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for part in 0..<4 {
                    group.addTask {
                        for number in 0..<2500 {
                            let name = "s\(part)-\(number)"
                            try await stage.broker.put(try stage.schedule(name, every: .seconds(60)))
                            _ = try await stage.broker.deleteSchedule(name, on: stage.queue)
                        }
                    }
                }
                try await group.waitForAll()
            }
            for name in ["early", "s0-0", "s3-2499"] {
                let again = try stage.schedule(name, every: .seconds(60))
                #expect(try await stage.broker.put(again) == .outdated(storedRevision: 0))
            }
            #expect(try await stage.broker.schedules(on: stage.queue) == [])
        },
        ConformanceCase("schedules are listed by name") { stage in
            for name in ["b", "a.b", "A-1"] {
                try await stage.broker.put(try stage.schedule(name, every: .seconds(60)))
            }
            #expect(try await stage.broker.schedules(on: stage.queue).map(\.name) == ["A-1", "a.b", "b"])
            #expect(try await stage.broker.schedule("c", on: stage.queue) == nil)
            #expect(try await stage.broker.queues().contains(stage.queue), "the queue is known by its schedule")
        },
        ConformanceCase("many schedules come in pages, each of them") { stage in
            let names = (0..<1000).map { "s\($0)" }
            for name in names { try await stage.broker.put(try stage.schedule(name, every: .seconds(60))) }
            let first = try await stage.broker.schedules(on: stage.queue, from: nil)
            #expect((90..<200).contains(first.records.count))
            #expect(first.next != nil)
            #expect(try await stage.broker.schedules(on: stage.queue).map(\.name) == names.sorted())
        },
        ConformanceCase("a run by hand leaves the ticks as they are, also of a paused schedule") { stage in
            try await stage.broker.put(try stage.schedule(every: .seconds(3600)))
            let before = try await stage.scheduleRecord("s")
            let receipt = try #require(try await stage.broker.runSchedule("s", on: stage.queue))
            #expect(receipt.outcome == .accepted)
            #expect(try await stage.scheduleRecord("s") == before)
            _ = try await stage.broker.pauseSchedule("s", on: stage.queue)
            let second = try #require(try await stage.broker.runSchedule("s", on: stage.queue))
            #expect(second.id != receipt.id)
            #expect(try await stage.status().ready == 2)
            #expect(try await stage.broker.runSchedule("none", on: stage.queue) == nil)
        },
        ConformanceCase("ticks of a full queue stay due") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 1))
            try await stage.pushPlain("a")
            try await stage.broker.put(try stage.schedule(every: .seconds(1)))
            let tick = try await stage.awaitDue("s")
            #expect(try await stage.ticker.work().pushed == 0)
            #expect(try await stage.scheduleRecord("s").nextTick == tick)
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.ticker.work().pushed == 1, "as many as there is room for")
            #expect(try await stage.scheduleRecord("s").lastTick == tick)
        },
    ]

    static let overlaps = [
        ConformanceCase("overlap allow: every tick's job runs") { stage in
            let receipts = try await stage.runsByHand(.allow, 2)
            #expect(receipts.map(\.outcome) == [.accepted, .accepted])
        },
        ConformanceCase("overlap skip: a new job gives way to one that waits or runs") { stage in
            #expect(try await stage.runsByHand(.skip, 2).map(\.outcome) == [.accepted, .dropped])
            let hand = try await stage.session()
            let claim = try await hand.claimOne()
            #expect(try await stage.runsByHand(.skip, 1).map(\.outcome) == [.dropped])
            try await hand.report(.finished, claim)
            #expect(try await stage.runsByHand(.skip, 1).map(\.outcome) == [.accepted])
        },
        ConformanceCase("overlap after: one waits for the running one, which is not stopped") { stage in
            let first = try #require(try await stage.runsByHand(.after, 1).first)
            let hand = try await stage.session()
            let claim = try await hand.claimOne()
            let later = try await stage.runsByHand(.after, 3)
            #expect(later.map(\.outcome) == [.deferred, .dropped, .dropped])
            #expect(later.map(\.holder) == [first.id, later[0].id, later[0].id])
            #expect(try await hand.beat().stops == [])
            #expect(try await stage.status().deferred == 1)
            #expect(try await hand.claim().isEmpty, "it waits")
            #expect(
                try await stage.broker.audit(stage.queue, repair: true) == [],
                "nobody is to be told to stop for it"
            )
            #expect(try await hand.beat().stops == [])
            #expect(try await hand.report(.finished, claim))
            #expect(try await hand.claimOne().id == later[0].id)
        },
        ConformanceCase("overlap after: behind one that waits nobody else does") { stage in
            let receipts = try await stage.runsByHand(.after, 2)
            #expect(receipts.map(\.outcome) == [.accepted, .dropped])
        },
        ConformanceCase("overlap replace: the old job gives way, and is stopped when it runs") { stage in
            #expect(try await stage.runsByHand(.replace, 2).map(\.outcome) == [.accepted, .replaced])
            let hand = try await stage.session()
            let claim = try await hand.claimOne()
            let later = try await stage.runsByHand(.replace, 2)
            #expect(later.map(\.outcome) == [.deferred, .deferred])
            #expect(try await hand.beat().stops.map(\.id) == [claim.id])
            try await hand.report(.cancelled, claim)
            #expect(try await hand.claimOne().id == later[1].id)
        },
        ConformanceCase("other jobs do not meet those of a schedule by accident") { stage in
            try await stage.push(stage.job("a", .drop, name: Stage.operation + " {}"))
            #expect(try await stage.runsByHand(.skip, 1).map(\.outcome) == [.accepted])
        },
    ]
}

extension Stage {
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

    /// Waits until a schedule's tick has come, and answers the tick.
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

    /// Runs a schedule with this overlap by hand, so many times.
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
