import Errand

/// Makes random histories that go to interesting places: it looks at the queue to send what a worker might send, and
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
    var queue = MemoryQueue(name: "q")
    let universe = Universe()
    var now: Time = 1_700_000_000_000
    private var plan: [PlannedStep] = []
    private let ids: Int
    private let leases: [Time]
    let isCrashy: Bool
    /// Crashes follow each other so closely that some job is set aside.
    let isDeadly: Bool
    private let parkable: String
    /// Whether jobs have groups, which histories with tombstones have not: a list of nothing but tombstones is empty in memory.
    private let usesGroups: Bool
    private let usesWorkflows: Bool
    /// Most pushes and calls are so simple that a shortcut of their script ends them.
    private let isSimple: Bool
    /// The last call of a workflow's push, which may be sent again.
    var lastOfWorkflow: Command?
    private var lastCalls: [String: Exchange] = [:]
    private var registered: [String: Session] = [:]

    package init(seed: UInt64, _ style: Style) {
        var numbers = SeededNumbers(seed: seed)
        self.style = style
        ids = 4 + numbers.below(Universe.idCount - 4)
        isCrashy = numbers.chance(25) && !style.isPlain
        isDeadly = isCrashy && numbers.chance(40)
        leases = isCrashy ? [100, 1000] : [[100, 101], [200, 400], [1000, 1000], [100, 2000]][numbers.below(4)]
        parkable = universe.operations[numbers.below(2)]
        isSimple = numbers.chance(20) && !style.isPlain
        usesGroups = numbers.chance(70) && !style.isPlain && !isSimple
        usesWorkflows = numbers.chance(50) && !style.isPlain && !isSimple
        self.numbers = numbers
    }

    /// A whole history of a seed.
    package static func history(seed: UInt64, steps: Int, _ style: Style = Style()) throws -> History {
        var maker = HistoryMaker(seed: seed, style)
        var history = History()
        for index in 0..<steps {
            let command = index == 0 ? maker.settings() : try maker.next()
            history.steps.append(.init(time: maker.now, command: command))
            maker.note(command)
        }
        return history
    }

    /// Only the last call of a registration may be sent again.
    private mutating func note(_ command: Command) {
        let answer = queue.apply(command.on(queue.name), at: now)
        switch command {
        case .exchange(let call): lastCalls[call.session.id] = call
        case .register(let session):
            lastCalls[session.id] = nil
            if answer == .done { registered[session.id] = session }
        default: break
        }
    }

    // MARK: Steps

    private mutating func settings() -> Command {
        var change = QueueSettings()
        if isSimple, numbers.chance(90) { return .promote }
        if numbers.chance(50) { change.rememberIDsMilliseconds = [300, 1000, 5000][numbers.below(3)] }
        if numbers.chance(50) { change.keepHistoryMilliseconds = [200, 1500, 4000][numbers.below(3)] }
        if numbers.chance(15), !style.isPlain { change.maximumLength = 3 + numbers.below(6) }
        if numbers.chance(50) { change.publishesStarts = true }
        return .configure(change)
    }

    private mutating func next() throws -> Command {
        if !plan.isEmpty { return try planned(plan.removeFirst()) }
        if let plan = somePlan() {
            self.plan = plan
            return try next()
        }
        passTime()
        if usesWorkflows, numbers.chance(25), let command = try workflow() { return command }
        let kind = numbers.below(100)
        switch kind {
        case 0..<22: return try push()
        case 22..<56: return exchange()
        case 56..<60: return resend()
        case 60..<66: return beat()
        case 66: return reconcile()
        case 67..<73: return register()
        case 73..<76: return .release(session(universe.sessions[numbers.below(Universe.sessionCount)]))
        case 76..<82: return .promote
        case 82..<90: return recover()
        case 90..<93: return .cancel(someIDs())
        case 93..<95: return .delete(someIDs())
        case 95..<97: return .retry(someIDs())
        default: return rare()
        }
    }

    private mutating func rare() -> Command {
        if usesGroups, numbers.chance(60) { return flow() }
        if numbers.chance(40) { return .clear }
        if isSimple, numbers.chance(90) { return .promote }
        var change = QueueSettings()
        change.isPaused = numbers.chance(30)
        if numbers.chance(30) { change.publishesStarts = numbers.chance(50) }
        if numbers.chance(20) { change.maximumLength = 0 }
        if numbers.chance(20) { change.keepHistoryMilliseconds = [0, 500][numbers.below(2)] }
        return .configure(change)
    }

    private mutating func flow() -> Command {
        let pattern = Universe.patterns[numbers.below(Universe.patterns.count)]
        if numbers.chance(25) { return .flow(pattern, nil) }
        return .flow(pattern, numbers.flowRule(for: pattern, windows: [1, 40, 400]))
    }

    mutating func push() throws -> Command {
        if isSimple, numbers.chance(75) { return .push([try oneJob()]) }
        return .push(try (0...numbers.below(4)).map { _ in try oneJob() })
    }

    mutating func oneJob(_ id: String? = nil) throws -> JobEnvelope {
        if isSimple, numbers.chance(97) { return try simpleJob(id) }
        var push = Push(id: id ?? someID())
        push.policy = [.ignore, .drop, .replace, .replace][numbers.below(4)]
        if numbers.chance(30) { push.policy = [.throttle, .debounce, .keepLatest][numbers.below(3)] }
        if push.policy != .ignore {
            push.name = universe.names[numbers.below(Universe.nameCount)]
            push.isUniqueUntilStarted = numbers.below(4) == 0
        }
        if push.policy.hasWindow { push.window = [1, 100, 500][numbers.below(3)] }
        if push.policy == .debounce, numbers.chance(50) { push.atMost = [50, 400, 1000][numbers.below(3)] }
        if !style.isPlain { push.priority = [5, 5, 5, 9, 0][numbers.below(5)] }
        push.operation = universe.operations[numbers.below(4) == 0 ? 1 : 0]
        if numbers.chance(30) { push.timeout = [50, 900][numbers.below(2)] }
        if numbers.chance(20) { push.expiresIn = [1, 100, 1000][numbers.below(3)] }
        if usesGroups, numbers.chance(70) { push.group = Universe.groups[numbers.below(Universe.groups.count)] }
        if usesGroups, numbers.chance(20) { push.cost = 1 + numbers.below(3) }
        if numbers.chance(40) { push.retries = numbers.below(3) }
        if numbers.chance(25) { push.due = now + Time(numbers.below(600)) - 100 }
        return try push.envelope()
    }

    private mutating func simpleJob(_ id: String?) throws -> JobEnvelope {
        var push = Push(id: id ?? someID())
        push.operation = universe.operations[numbers.below(4) == 0 ? 1 : 0]
        if numbers.chance(30) { push.timeout = [50, 900][numbers.below(2)] }
        if numbers.chance(5) { push.due = now + Time(numbers.below(600)) - 100 }
        return try push.envelope()
    }

    private mutating func someID() -> String { universe.ids[numbers.below(ids)] }

    mutating func registration(_ id: String, lease: Time? = nil) -> Session {
        let lease = lease ?? leases[numbers.below(2)]
        let pid: Int32 = id == universe.sessions[4] && numbers.chance(30) ? 2 : 1
        var operations = [
            "op0": OperationDefaults(timeout: .milliseconds(300), retries: 1),
            "op1": OperationDefaults(timeout: .milliseconds(700), retries: 0),
        ]
        if numbers.chance(40) { operations[universe.operations[numbers.below(2)]] = nil }
        return makeSession(id, pid: pid, lease: lease, operations)
    }

    /// A session as it was registered, or would be.
    func session(_ id: String) -> Session { registered[id] ?? makeSession(id, lease: 1000) }

    private func makeSession(
        _ id: String,
        pid: Int32 = 1,
        lease: Time,
        _ operations: [String: OperationDefaults] = [:]
    ) -> Session {
        Session(
            id: id,
            host: "host",
            pid: pid,
            concurrency: 4,
            queues: [],
            lease: .milliseconds(lease),
            operations: operations
        )
    }

    /// A session that beats with a lease.
    func session(_ id: String, lease: Time) -> Session {
        let known = session(id)
        return makeSession(id, pid: known.pid, lease: lease, known.operations)
    }

    private mutating func register() -> Command {
        .register(registration(universe.sessions[numbers.below(Universe.sessionCount)]))
    }

    private mutating func beat() -> Command {
        let session = someSession()
        let known = queue.sessions[session]
        let lease = numbers.chance(90) ? known?.lease ?? 100 : leases[numbers.below(2)]
        let begun = known?.claimsInOrder.randomElement(using: &numbers)?.claim.token ?? 0
        return .beat(
            self.session(session, lease: lease),
            begun: numbers.chance(30) && !style.isPlain ? begun : 0
        )
    }

    /// A worker that knows most of its claims, and sometimes more.
    private mutating func reconcile() -> Command {
        let session = someSession()
        var runs = (queue.sessions[session]?.claimsInOrder ?? []).filter { _ in numbers.chance(70) }.map {
            Beat.Stop(id: $0.id, token: $0.claim.token)
        }
        if numbers.chance(30), let run = runs.first {
            runs[0] = Beat.Stop(id: run.id, token: run.token - 1)
        }
        if numbers.chance(30) {
            let id = someID()
            if !runs.contains(where: { $0.id == id }) { runs.append(Beat.Stop(id: id, token: queue.lastToken + 1)) }
        }
        // An older claim of the same job, as its report may still be there.
        if numbers.chance(20), let run = runs.randomElement(using: &numbers) {
            runs.insert(Beat.Stop(id: run.id, token: run.token - 1), at: numbers.below(runs.count + 1))
        }
        let number = nextNumber(of: session) - 1 - (numbers.chance(10) ? 1 : 0)
        return .reconcile(self.session(session), call: max(number, 0), runs: runs)
    }

    mutating func recover() -> Command {
        .recover(look: style.looksAtOne ? queue.sessions.keys.sorted().randomElement(using: &numbers) : nil)
    }

    // MARK: Calls

    private mutating func exchange() -> Command {
        let session = someSession()
        let known = queue.sessions[session]
        var call = call(of: session)
        // Held back on a broken connection while later ones went through.
        if let last = known?.lastCall?.number, last > 1, numbers.chance(4) { call.call = last - 1 }
        if numbers.chance(65), let held = known?.claimsInOrder {
            for _ in 0...numbers.below(3) {
                if let (id, claim) = held.randomElement(using: &numbers) { call.reports.append(report(id, claim)) }
            }
        }
        if numbers.chance(6) { call.reports.append(stranger()) }
        call.wanted = call.reports.isEmpty || numbers.chance(50) ? 1 + numbers.below(4) : 0
        // Such calls take several jobs of a group in its turn.
        if call.wanted == 4, numbers.chance(30) { call.wanted = 128 + numbers.below(128) }
        // With tombstones no job becomes a suspect: a line of nothing but tombstones would hold a session up.
        call.freeSlots = style.isPlain ? 0 : numbers.below(usesGroups ? 5 : 2)
        call.acceptsDirectDispatch = !style.isPlain && numbers.chance(50)
        call.begun = numbers.chance(60) && !style.isPlain ? known?.begun ?? 0 : 0
        call.longestWait = .milliseconds([0, 50, 400, 100_000][numbers.below(4)])
        return .exchange(call)
    }

    /// The next call of a session, which neither reports nor claims anything yet.
    mutating func call(of session: String) -> Exchange {
        Exchange(
            session: self.session(session),
            call: nextNumber(of: session),
            reports: [],
            wanted: 0,
            freeSlots: 0,
            begun: 0,
            longestWait: .zero,
            stopGrace: .zero
        )
    }

    private mutating func report(_ id: String, _ claim: MemoryClaim) -> OutcomeReport {
        let job = queue.jobs[id]
        var verb = OutcomeReport.Verb.allCases[numbers.below(OutcomeReport.Verb.allCases.count)]
        let isUsual = isSimple && numbers.chance(95)
        if isUsual { verb = .finished }
        // Which of several parked operations goes first is not settled, so only one is ever parked.
        if verb == .unroutable, job?.header.operation != parkable { verb = .finished }
        var report = OutcomeReport(id: id, token: claim.token, verb: verb, attempt: (job?.failures ?? 0) + 1)
        if numbers.chance(4) { report.token -= Token(1 + numbers.below(2)) }
        report.milliseconds = numbers.below(50)
        report.error = numbers.chance(50) && !isUsual ? Universe.error : nil
        report.result = numbers.chance(30) && !isUsual ? Universe.result : []
        if numbers.chance(60), !isUsual { report.retryDelay = [0, 1, 120][numbers.below(3)] }
        report.fragment = job?.header.fragment ?? Array(#""operation":null,"name":null"#.utf8)
        return report
    }

    /// A report of a claim that another session holds, or nobody.
    private mutating func stranger() -> OutcomeReport {
        let claims = queue.sessions.sorted { $0.key < $1.key }.flatMap(\.value.claimsInOrder)
        if let (id, claim) = claims.randomElement(using: &numbers) { return report(id, claim) }
        return OutcomeReport(id: someID(), token: queue.lastToken, verb: .finished, attempt: 1)
    }

    private mutating func resend() -> Command {
        guard let call = lastCalls.sorted(by: { $0.key < $1.key }).randomElement(using: &numbers)?.value else {
            return .promote
        }
        return .exchange(call)
    }

    mutating func someSession() -> String {
        let known = numbers.chance(95) ? queue.sessions.keys.sorted() : universe.sessions
        return known.randomElement(using: &numbers) ?? universe.sessions[0]
    }

    private mutating func someIDs() -> [String] {
        // A job that is dead, runs or waits behind another is more interesting than one that does not exist.
        let live = queue.jobs.values.filter { $0.isDead || $0.holder != nil || $0.predecessor != nil }.map(\.id)
            .sorted()
        return (0...numbers.below(3)).map { _ in
            let any = someID()
            return numbers.chance(50) ? live.randomElement(using: &numbers) ?? any : any
        }
    }

    // MARK: Time

    private mutating func passTime() {
        if let looked = queue.pulse.outageNoticed, let beat = queue.pulse.lastBeat {
            // The clock is put back to where recovery had noticed nothing yet, or there is another outage before anybody has beaten.
            if numbers.chance(10) { return go(to: beat + Time(numbers.below(60))) }
            if numbers.chance(10) { return go(to: looked + queue.pulse.longestLease / 2 + Time(numbers.below(60))) }
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
        var times = [queue.pulse.graceEnds] + queue.ended.expiries
        if let beat = queue.pulse.lastBeat { times.append(beat + queue.pulse.longestLease / 2) }
        for session in queue.sessions.values {
            times.append(session.leaseEnds)
            times += session.claims.values.map(\.hardDeadline)
        }
        times += queue.jobs.values.compactMap { queue.due($0) }
        times += queue.history.newestFirst.compactMap { queue.history[$0]?.at }.map { $0 + queue.settings.keepHistory }
        let ahead = times.filter { $0 >= now - 1 && $0 < now + 10_000 }.sorted()
        guard let time = ahead.randomElement(using: &numbers) else { return }
        go(to: time - 1 + Time(numbers.below(3)))
    }

    /// Time may go back, but what has expired by then stays away, which the model does not know.
    private mutating func go(to time: Time) {
        if !queue.ended.expiries.contains(where: { time < $0 && $0 <= now }) { now = time }
    }
}
