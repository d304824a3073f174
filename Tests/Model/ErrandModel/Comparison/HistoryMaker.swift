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

    var numbers: SeededNumbers
    let style: Style
    var model = QueueModel()
    var now: Time = 1_700_000_000_000
    private var plan: [PlannedStep] = []
    private let ids: Int
    private let leases: [Time]
    let isCrashy: Bool
    /// Crashes follow each other so closely that some job is set aside.
    let isDeadly: Bool
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
        if let plan = somePlan() {
            self.plan = plan
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
        case 95..<98: return .retry(someIDs())
        default: return rare()
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

    mutating func push() -> Command {
        .push((0...numbers.below(4)).map { _ in oneJob() })
    }

    mutating func oneJob() -> Push {
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

    mutating func registration(_ session: SessionID) -> Registration {
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

    mutating func recover() -> Command {
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
        call.acceptsDirectDispatch = !style.isPlain && numbers.chance(50)
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

    mutating func someSession() -> SessionID {
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
