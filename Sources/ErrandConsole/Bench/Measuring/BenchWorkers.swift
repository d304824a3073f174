import Backgroundable
import ErrandCommandLine
import Foundation
import Synchronization

/// The worker processes of one measurement and their reports.
final class BenchWorkers: Sendable {
    private struct State: Sendable {
        var registered = 0
        var picks: [String: Int64] = [:]
        var usages: [ProcessUsage] = []
        var waiting: [Int: (isMet: @Sendable (State) -> Bool, resume: CheckedContinuation<Bool, Never>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private let processes: WorkerProcesses
    private let count: Int
    private let reading: FileHandle

    /// Starts processes with several workers each, and waits until all have registered.
    static func start(
        _ stage: BenchStage,
        queues: [String],
        processes: Int = 1,
        sessions: Int = 1,
        concurrency: Int? = nil
    ) async throws -> BenchWorkers {
        let workers = try BenchWorkers(stage, queues, processes, sessions, concurrency ?? stage.concurrency)
        // Each session writes one line.
        let expected = processes * sessions
        guard await workers.wait({ $0.registered >= expected }) else {
            workers.end()
            throw CommandFailure("the benchmark's workers did not register", ExitStatus.unavailable)
        }
        return workers
    }

    private init(
        _ stage: BenchStage,
        _ queues: [String],
        _ count: Int,
        _ sessions: Int,
        _ concurrency: Int
    ) throws {
        self.count = count
        let pipe = Pipe()
        reading = pipe.fileHandleForReading
        processes = WorkerProcesses(
            arguments: ["bench-worker"] + queues.flatMap { ["--queue", $0] } + [
                "--sessions", "\(sessions)", "--concurrency", "\(concurrency)",
            ],
            line: stage.brokerURL
        )
        for _ in 0..<count { try processes.start(output: pipe.fileHandleForWriting.fileDescriptor) }
        try pipe.fileHandleForWriting.close()
        let thread = Thread { [weak self, reading] in
            var lines = LineSplitter(limit: 4096)
            while case let data = reading.availableData, !data.isEmpty {
                var found: [InputLine] = []
                Array(data).withUnsafeBufferPointer { lines.take($0, into: &found) }
                for case .bytes(let bytes) in found.map(\.content) {
                    self?.take(String(decoding: bytes, as: UTF8.self))
                }
            }
        }
        thread.name = "bench-lines"
        thread.start()
    }

    private func take(_ line: String) {
        guard let line = BenchLine(line) else { return }
        let resumed = state.withLock { state in
            switch line {
            case .registered: state.registered += 1
            case .picked(let id, let time): state.picks[id] = time
            case .used(let usage): state.usages.append(usage)
            }
            let met = state.waiting.filter { $0.value.isMet(state) }
            for key in met.keys { state.waiting[key] = nil }
            return met.values.map(\.resume)
        }
        for resume in resumed { resume.resume(returning: true) }
    }

    /// Waits until a condition is met; returns `false` after a minute.
    private func wait(_ isMet: @escaping @Sendable (State) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let key: Int? = state.withLock { state in
                if isMet(state) { return nil }
                state.next += 1
                state.waiting[state.next] = (isMet, continuation)
                return state.next
            }
            guard let key else { return continuation.resume(returning: true) }
            // The deadline timer uses no processor while it waits, which the measurement needs.
            _ = DeadlineTimer.shared.schedule(after: .seconds(60)) { [weak self] in
                self?.state.withLock { $0.waiting.removeValue(forKey: key) }?.resume.resume(returning: false)
            }
        }
    }

    /// Returns the time of a job's pick-up on the machine's monotonic clock, in nanoseconds.
    func pick(of id: String) async throws -> Int64 {
        guard await wait({ $0.picks[id] != nil }), let time = state.withLock({ $0.picks.removeValue(forKey: id) })
        else { throw CommandFailure("a job was not picked up within a minute", ExitStatus.unsuccessful) }
        return time
    }

    /// Returns the resource usage of a process, which a `usage` job reports.
    func usage(number: Int) async throws -> ProcessUsage {
        guard await wait({ $0.usages.count >= number }), let usage = state.withLock({ $0.usages.last }) else {
            throw CommandFailure("a worker did not report its resource usage within a minute", ExitStatus.unsuccessful)
        }
        return usage
    }

    /// Stops the processes and returns the resource usage of each.
    func finish() async throws -> [ProcessUsage] {
        let known = state.withLock(\.usages.count)
        processes.end()
        guard await wait({ [count] in $0.usages.count >= known + count }) else {
            throw CommandFailure("a worker did not report its resource usage within a minute", ExitStatus.unsuccessful)
        }
        return state.withLock { Array($0.usages.dropFirst(known)) }
    }

    /// Stops the processes and waits until they have exited.
    func end() { processes.end() }
}
