import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// A session of `errand top`, from the start to the last key.
actor TopSession {
    private let broker: RedisBroker
    private let named: [String]
    private let every: Duration
    private let screen: TerminalScreen
    private var view = TopView()
    private var work: Task<Void, Never>?

    init(broker: RedisBroker, named: [String], every: Duration, screen: TerminalScreen) {
        self.broker = broker
        self.named = named
        self.every = every
        self.screen = screen
    }

    func run(until interruption: Interruption) async throws {
        let inputs = TopInputs()
        let feeds =
            [
                Task { [every] in
                    while (try? await Task.sleep(for: every)) != nil { inputs.add(.tick) }
                },
                Task {
                    for await key in Key.pressed() { inputs.add(TopInput(key)) }
                    inputs.add(.keysOver)
                },
                Task {
                    for await _ in interruption.signals { inputs.add(.end) }
                },
                Task { [broker, named] in
                    let events = broker.events(of: named.isEmpty ? nil : named) { inputs.add(.listening) }
                    do {
                        for try await message in events {
                            let failures = message.lines.filter(\.tellsFailure).compactMap { JobEvent(line: $0) }
                            if !failures.isEmpty { inputs.add(.failures(failures)) }
                        }
                    } catch {
                        inputs.add(.problem("failures cannot be received: \(error)"))
                    }
                },
            ] as [any Cancellable]
        defer {
            for feed in feeds { feed.cancel() }
            work?.cancel()
        }
        suspendAndResume(inputs)
        // Show the queues first, because keys relate to what the user sees.
        var input: TopInput? = .tick
        while let current = input {
            guard await act(on: current, inputs) else { return }
            let size = screen.size
            screen.show(view.lines(columns: size.columns, rows: size.rows))
            input = await inputs.next()
        }
    }

    /// Restores the terminal while a shell suspends this process (Ctrl-Z), and enters full-screen mode afterwards.
    /// Signal handlers do it directly, because a call to the broker may take time.
    private func suspendAndResume(_ inputs: TopInputs) {
        CaughtSignals.take([SIGTSTP]) { [screen] _ in
            screen.leave()
            kill(getpid(), SIGSTOP)
        }
        CaughtSignals.take([SIGCONT]) { [screen] _ in
            screen.enter()
            inputs.add(.tick)
        }
    }

    /// Handles an input and returns whether to continue.
    private func act(on input: TopInput, _ inputs: TopInputs) async -> Bool {
        do {
            switch input {
            case .tick: try await look()
            case .failures(let failures): view.take(failures)
            case .listening: view.take(try await earlierFailures())
            case .move(let step): view.select(step)
            case .character(let character): return try await act(on: character, inputs)
            case .progress(let text): if work != nil { view.work = text }
            case .problem(let text): view.message = text
            case .keysOver, .end: return false
            }
        } catch {
            view.message = "\((error as? BrokerError)?.message ?? "\(error)")"
        }
        return true
    }

    private func look() async throws {
        let overview = try await overview()
        view.take(overview)
        if let first = overview.unreadable.first { view.message = first.description }
    }

    private func overview() async throws -> Overview {
        let list = named.isEmpty ? try await QueueList(of: broker) : QueueList(named)
        if let problem = list.problem { view.message = problem.message }
        return try await Overview(of: list.names, on: broker)
    }

    /// Returns the last failures of dead and retrying jobs, latest last.
    private func earlierFailures() async throws -> [JobEvent] {
        let queues = try await overview().queues
        return try await RecentFailures.read(of: queues, on: broker, atMost: TopView.mostFailures)
    }

    private func act(on character: Character, _ inputs: TopInputs) async throws -> Bool {
        if let question = view.question {
            view.question = nil
            if character == "y" { begin(question, inputs) } else { view.message = "nothing was done" }
            return true
        }
        view.message = ""
        switch character {
        case "q": return false
        case "p": try await togglePause()
        case "r": ask(.retry) { $0.dead }
        case "c": ask(.cancel) { $0.ready + $0.scheduled + $0.retrying + $0.deferred }
        default: break
        }
        return true
    }

    private func togglePause() async throws {
        guard let queue = view.selectedQueue else { return }
        try await broker.configure(queue.name, QueueSettings(isPaused: !queue.isPaused))
        view.message = "\(queue.name) is \(queue.isPaused ? "resumed" : "paused")"
        try await look()
    }

    private func ask(_ action: BulkAction, _ count: (QueueStatus) -> Int) {
        guard let queue = view.selectedQueue else { return }
        let jobs = count(queue)
        if work != nil { return }
        if jobs == 0 { return view.message = "\(queue.name) has no such jobs" }
        view.question = TopView.Question(action: action, queue: queue.name, count: jobs)
    }

    /// Starts an action in the background, because it may take minutes.
    private func begin(_ question: TopView.Question, _ inputs: TopInputs) {
        let doing = "\(question.action.rawValue) jobs of \(question.queue)"
        view.work = doing
        work = Task { [broker] in
            do {
                let text = try await question.perform(on: broker) { through in
                    inputs.add(.progress("\(doing): \(through.grouped) done"))
                }
                end(text)
            } catch {
                end("\(doing): \((error as? BrokerError)?.message ?? "\(error)")")
            }
        }
    }

    private func end(_ text: String) { (view.work, view.message, work) = (nil, text, nil) }
}

extension TopView.Question {
    /// Performs the confirmed action and returns its outcome in words.
    fileprivate func perform(
        on broker: RedisBroker,
        progress: (_ through: Int) -> Void
    ) async throws(BrokerError) -> String {
        if action == .cancel {
            var cancelled = 0
            do throws(BrokerError) {
                try await QueueClearing(of: queue, on: broker).run {
                    cancelled = $0
                    progress($0)
                }
            } catch { return "\(cancelled.grouped) cancelled, then: \(error.message)" }
            return "\(cancelled.grouped) cancelled"
        }
        let selection = try await JobSearch(broker, in: [queue], action.usualStates).selectAll()
        let tally = await action.run(selection, on: broker, progress: progress)
        let outcomes = tally.outcomes.sorted { $0.key < $1.key }
        let counts = outcomes.map { "\($0.value.grouped) \($0.key.replacing("_", with: " "))" }
        return counts.joined(separator: ", ") + (tally.failure.map { ": \($0.message)" } ?? "")
    }
}

/// A type that can be cancelled.
private protocol Cancellable { func cancel() }

extension Task: Cancellable {}

extension [UInt8] {
    /// Whether the line is a failure event. This prefix check is cheap, because there may be many events a second.
    fileprivate var tellsFailure: Bool {
        [#"{"event":"failed""#, #"{"event":"timed_out""#, #"{"event":"dead""#].contains { starts(with: $0.utf8) }
    }
}
