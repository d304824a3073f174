/// Makes random histories that go to interesting places: it looks at the model to send what a worker might send, and
/// moves time to where something is about to happen.
package struct HistoryMaker {
    /// What a history may do.
    package struct Style: Sendable {
        /// Whether recovery looks at the deadlines of one session of the broker's choice, as Redis does.
        package var looksAtOne = false
        /// Whether all jobs have one priority, none becomes a suspect and the queue is never full, as histories with tombstones must.
        package var isPlain = false
        package init() {}
    }

    private enum Planned {
        case register, claim, expire, recover, enter, start, meddle, overrun, look, wait, fill, hand
    }

    private var numbers: SeededNumbers
    private let style: Style
    private var model = QueueModel()
    private var now: Time = 1_700_000_000_000
    private var plan: [Planned] = []
    private let ids: Int
    private let leases: [Time]
    private let isCrashy: Bool
    /// Crashes follow each other so closely that some job is set aside.
    private let isDeadly: Bool
    private let parkable: Operation
    private var lastCalls: [SessionID: Call] = [:]

    package init(seed: UInt64, _ style: Style) {
        var numbers = SeededNumbers(seed: seed)
        self.style = style
        ids = 4 + numbers.below(Universe.idCount - 4)
        isCrashy = numbers.chance(25) && !style.isPlain
        isDeadly = isCrashy && numbers.chance(40)
        leases = isCrashy ? [100, 1000] : [[100, 101], [200, 400], [1000, 1000], [100, 2000]][numbers.below(4)]
        parkable = numbers.below(2)
        self.numbers = numbers
    }

    /// A whole history of a seed.
    package static func history(seed: UInt64, steps: Int, _ style: Style = Style()) -> History {
        var maker = HistoryMaker(seed: seed, style)
        var history = History()
        for index in 0..<steps {
            let command = index == 0 ? maker.settings() : maker.next()
            history.steps.append(.init(time: maker.now, command: command))
            maker.note(command)
        }
        return history
    }

    /// Only the last call of a registration may be sent again.
    private mutating func note(_ command: Command) {
        switch command {
        case .exchange(let call): lastCalls[call.session] = call
        case .register(let registration): lastCalls[registration.session] = nil
        default: break
        }
        _ = model.apply(command, at: now)
    }

    // MARK: Steps

    private mutating func settings() -> Command {
        var change = SettingsChange()
        if numbers.chance(50) { change.rememberIDs = [300, 1000, 5000][numbers.below(3)] }
        if numbers.chance(50) { change.keepHistory = [200, 1500, 4000][numbers.below(3)] }
        if numbers.chance(15), !style.isPlain { change.maximumLength = 3 + numbers.below(6) }
        if numbers.chance(50) { change.publishesStarts = true }
        return .configure(change)
    }

    private mutating func next() -> Command {
        if !plan.isEmpty { return planned(plan.removeFirst()) }
        if isCrashy, numbers.chance(isDeadly ? 75 : 20), !model.jobs.isEmpty {
            plan = [.register, .claim, .expire, .recover]
            return next()
        }
        if numbers.chance(2), !model.jobs.isEmpty {
            plan = [.enter, .start, .meddle, .overrun, .look, .look]
            return next()
        }
        if numbers.chance(12), model.lines.isEmpty, !style.isPlain {
            // Where two wait and one of them is told of a job, the next job comes behind that one.
            plan = numbers.chance(25) ? [.wait, .wait, .fill, .hand] : [.wait, .hand]
            return next()
        }
        passTime()
        let kind = numbers.below(100)
        switch kind {
        case 0..<22: return push()
        case 22..<56: return exchange()
        case 56..<60: return resend()
        case 60..<66: return beat()
        case 66: return reconcile()
        case 67..<73: return register()
        case 73..<76: return .release(numbers.below(Universe.sessionCount))
        case 76..<82: return .promote
        case 82..<90: return recover()
        case 90..<93: return .cancel(someIDs())
        case 93..<95: return .delete(someIDs())
        case 95..<98: return .revive(someIDs())
        default: return rare()
        }
    }

    /// A session that claims, begins and dies, while another one beats.
    private mutating func planned(_ step: Planned) -> Command {
        switch step {
        case .register:
            var registration = registration(0)
            registration.lease = 100
            return .register(registration)
        case .claim:
            var call = Call(session: 0, number: nextNumber(of: 0))
            call.wanted = 1 + numbers.below(2)
            call.freeSlots = numbers.chance(85) ? 1 : 0
            call.waitAndGrace = 100_000
            return .exchange(call)
        case .expire:
            now = max(now, model.sessions[0]?.leaseEnds ?? now)
            var registration = registration(1)
            registration.lease = 1000
            if let known = model.sessions[1] { return .beat(1, lease: known.registration.lease, begun: known.begun) }
            return .register(registration)
        case .recover: return recover()
        case .wait: return look(of: someSession())
        case .hand: return .push([oneJob()])
        case .fill:
            let job = oneJob()
            return .push([job, job])
        case .enter, .start, .meddle, .overrun, .look: return stuck(step)
        }
    }

    /// A session that has free slots and asks for work.
    private mutating func look(of session: SessionID) -> Command {
        var call = Call(session: session, number: nextNumber(of: session))
        call.wanted = 1 + numbers.below(2)
        call.freeSlots = numbers.below(2)
        call.canBeHanded = true
        call.waitAndGrace = [0, 400, 100_000][numbers.below(3)]
        return .exchange(call)
    }

    /// The number of a session's next call. Where a push has answered one, the worker may know, or not yet.
    private mutating func nextNumber(of session: SessionID) -> Int {
        guard let known = model.sessions[session] else { return 1 }
        return (known.lastCall?.number ?? 0) + (known.handed != nil && numbers.chance(50) ? 2 : 1)
    }

    private static let wedged: SessionID = 2

    /// A session that beats and never ends what it has begun, of which somebody may want something meanwhile.
    private mutating func stuck(_ step: Planned) -> Command {
        switch step {
        case .enter:
            var registration = registration(Self.wedged)
            registration.lease = 2000
            return .register(registration)
        case .start:
            var call = Call(session: Self.wedged, number: nextNumber(of: Self.wedged))
            call.wanted = 1 + numbers.below(2)
            return .exchange(call)
        case .meddle:
            let held = model.sessions[Self.wedged]?.claims.map(\.id) ?? []
            return numbers.chance(50) && !held.isEmpty ? .cancel([held[0]]) : push()
        case .overrun:
            now = max(now, (model.sessions[Self.wedged]?.claims.map(\.deadline).max() ?? now) + 1)
            return .beat(Self.wedged, lease: 2000, begun: 0)
        default: return .recover(look: style.looksAtOne ? Self.wedged : nil)
        }
    }

    private mutating func rare() -> Command {
        if numbers.chance(40) { return .clear }
        var change = SettingsChange()
        change.isPaused = numbers.chance(30)
        if numbers.chance(30) { change.publishesStarts = numbers.chance(50) }
        if numbers.chance(20) { change.maximumLength = 0 }
        if numbers.chance(20) { change.keepHistory = [0, 500][numbers.below(2)] }
        return .configure(change)
    }

    private mutating func push() -> Command {
        .push((0...numbers.below(4)).map { _ in oneJob() })
    }

    private mutating func oneJob() -> Push {
        var push = Push(id: numbers.below(ids))
        push.policy = [.ignore, .drop, .replace, .replace][numbers.below(4)]
        if push.policy != .ignore {
            push.name = numbers.below(Universe.nameCount)
            push.isUniqueUntilStarted = numbers.below(4) == 0
        }
        if !style.isPlain { push.priority = [5, 5, 5, 9, 0][numbers.below(5)] }
        push.operation = numbers.below(4) == 0 ? 1 : 0
        if numbers.chance(30) { push.timeout = [50, 900][numbers.below(2)] }
        if numbers.chance(40) { push.retries = numbers.below(3) }
        if numbers.chance(25) { push.due = now + Time(numbers.below(600)) - 100 }
        return push
    }

    private mutating func registration(_ session: SessionID) -> Registration {
        var registration = Registration(session: session, lease: leases[numbers.below(2)])
        if session == 4, numbers.chance(30) { registration.pid = 2 }
        registration.operations = [0: .init(timeout: 300, retries: 1), 1: .init(timeout: 700, retries: 0)]
        if numbers.chance(40) { registration.operations[numbers.below(2)] = nil }
        return registration
    }

    private mutating func register() -> Command { .register(registration(numbers.below(Universe.sessionCount))) }

    private mutating func beat() -> Command {
        let session = someSession()
        let known = model.sessions[session]
        let lease = numbers.chance(90) ? known?.registration.lease ?? 100 : leases[numbers.below(2)]
        let begun = known?.claims.randomElement(using: &numbers)?.token ?? 0
        return .beat(session, lease: lease, begun: numbers.chance(30) && !style.isPlain ? begun : 0)
    }

    /// A worker that knows most of its claims, and sometimes more.
    private mutating func reconcile() -> Command {
        let session = someSession()
        let known = model.sessions[session]
        var runs = (known?.claims ?? []).filter { _ in numbers.chance(70) }.map {
            StopOrder(id: $0.id, token: $0.token)
        }
        if numbers.chance(30), let run = runs.first {
            runs[0] = StopOrder(id: run.id, token: run.token - 1)
        }
        if numbers.chance(30) {
            let id = numbers.below(ids)
            if !runs.contains(where: { $0.id == id }) { runs.append(StopOrder(id: id, token: model.lastToken + 1)) }
        }
        // An older claim of the same job, as its report may still be there.
        if numbers.chance(20), let run = runs.randomElement(using: &numbers) {
            runs.insert(StopOrder(id: run.id, token: run.token - 1), at: numbers.below(runs.count + 1))
        }
        let number = nextNumber(of: session) - 1 - (numbers.chance(10) ? 1 : 0)
        return .reconcile(session, number: max(number, 0), known: runs)
    }

    private mutating func recover() -> Command {
        .recover(look: style.looksAtOne ? model.sessions.keys.sorted().randomElement(using: &numbers) : nil)
    }

    // MARK: Calls

    private mutating func exchange() -> Command {
        let session = someSession()
        let known = model.sessions[session]
        var call = Call(session: session, number: nextNumber(of: session))
        // Held back on a broken connection while later ones went through.
        if let last = known?.lastCall?.number, last > 1, numbers.chance(4) { call.number = last - 1 }
        if numbers.chance(65), let known {
            for _ in 0...numbers.below(3) {
                if let claim = known.claims.randomElement(using: &numbers) { call.reports.append(report(claim)) }
            }
        }
        if numbers.chance(6) { call.reports.append(stranger()) }
        call.wanted = call.reports.isEmpty || numbers.chance(50) ? 1 + numbers.below(4) : 0
        // With tombstones no job becomes a suspect: a line of nothing but tombstones would hold a session up.
        call.freeSlots = style.isPlain ? 0 : numbers.below(2)
        call.canBeHanded = !style.isPlain && numbers.chance(50)
        call.begun = numbers.chance(60) && !style.isPlain ? known?.begun ?? 0 : 0
        call.waitAndGrace = [0, 50, 400, 100_000][numbers.below(4)]
        return .exchange(call)
    }

    private mutating func report(_ claim: SessionState.HeldClaim) -> Report {
        let job = model.jobs[claim.id]
        var verb = Verb.allCases[numbers.below(Verb.allCases.count)]
        // Which of several parked operations goes first is not settled, so only one is ever parked.
        if verb == .parked, job?.pushed.operation != parkable { verb = .finished }
        var report = Report(id: claim.id, token: claim.token, verb: verb)
        if numbers.chance(4) { report.token -= Token(1 + numbers.below(2)) }
        report.attempt = (job?.failures ?? 0) + 1
        report.duration = numbers.below(50)
        report.hasError = numbers.chance(50)
        report.hasResult = numbers.chance(30)
        if numbers.chance(60) { report.retryDelay = Time([0, 1, 120][numbers.below(3)]) }
        report.operation = job?.pushed.operation
        report.name = job?.pushed.name
        return report
    }

    /// A report of a claim that another session holds, or nobody.
    private mutating func stranger() -> Report {
        let claims = model.sessions.sorted { $0.key < $1.key }.flatMap(\.value.claims)
        if let claim = claims.randomElement(using: &numbers) { return report(claim) }
        return Report(id: numbers.below(ids), token: model.lastToken, verb: .finished)
    }

    private mutating func resend() -> Command {
        guard let call = lastCalls.sorted(by: { $0.key < $1.key }).randomElement(using: &numbers)?.value else {
            return .promote
        }
        return .exchange(call)
    }

    private mutating func someSession() -> SessionID {
        let known = model.sessions.keys.sorted()
        return numbers.chance(95) ? known.randomElement(using: &numbers) ?? 0 : numbers.below(Universe.sessionCount)
    }

    private mutating func someIDs() -> [JobID] {
        // A job that is dead, runs or waits behind another is more interesting than one that does not exist.
        let live = model.jobs.values.filter { job in
            switch job.place {
            case .dead, .claimed, .behind: true
            default: false
            }
        }.map(\.id).sorted()
        return (0...numbers.below(3)).map { _ in
            let any = numbers.below(ids)
            return numbers.chance(50) ? live.randomElement(using: &numbers) ?? any : any
        }
    }

    // MARK: Time

    private mutating func passTime() {
        if let looked = model.gapNoticed, let beat = model.lastBeat {
            // The clock is put back to where recovery had noticed nothing yet, or there is another outage before anybody has beaten.
            if numbers.chance(10) { return go(to: beat + Time(numbers.below(60))) }
            if numbers.chance(10) { return go(to: looked + model.longestLease / 2 + Time(numbers.below(60))) }
        }
        switch numbers.below(100) {
        case 0..<50: now += Time(numbers.below(15))
        case 50..<70: now += Time(numbers.below(60))
        case 70..<80: now += Time(numbers.below(Int(leases[1])))
        case 80..<83: now += Time(numbers.below(5000))
        case 83: go(to: now - Time(numbers.below(60)))
        case 84..<90: break
        default: goToWhereSomethingHappens()
        }
    }

    private mutating func goToWhereSomethingHappens() {
        var times: [Time] = [model.graceEnds, model.ended.current.expires, model.ended.older.expires]
        if let beat = model.lastBeat { times.append(beat + model.longestLease / 2) }
        for session in model.sessions.values {
            times.append(session.leaseEnds)
            times += session.claims.map(\.deadline)
        }
        for job in model.jobs.values {
            switch job.place {
            case .scheduled(let due), .retrying(let due): times.append(due)
            default: break
            }
        }
        times += model.history.map { $0.event.at + model.settings.keepHistory }
        let ahead = times.filter { $0 >= now - 1 && $0 < now + 10_000 }.sorted()
        guard let time = ahead.randomElement(using: &numbers) else { return }
        go(to: time - 1 + Time(numbers.below(3)))
    }

    /// Time may go back, but what has expired by then stays away, which the model does not know.
    private mutating func go(to time: Time) {
        let expiries = [model.ended.current.expires, model.ended.older.expires]
        if !expiries.contains(where: { time < $0 && $0 <= now }) { now = time }
    }
}
