import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Jobs that run one after the other, side by side, or only if others fail.
///
/// ```swift
/// let flow = Workflow("import 42") { flow in
///     let fetched = flow.add(Fetch(url))
///     let parsed = flow.add(Parse(), after: fetched)
///     flow.add(Report(), after: parsed, when: .anyEnd)
/// }
/// flow.onFailure(Alert())
/// let receipt = try await producer.push(flow)
/// try await producer.result(of: receipt)
/// ```
///
/// A value stands for one workflow: pushing it again repeats the push and never makes a second workflow. Copies share
/// their jobs.
public struct Workflow: WorkflowBuilding {
    /// The name, for people and for the policy.
    public let name: String
    /// The home queue, and the queue of jobs whose type and options have none; that of the first job if `nil`.
    public let queue: String?
    /// What happens if another workflow of the name has not ended: `ignore`, `drop` or `replace`.
    public let uniquenessPolicy: UniquenessPolicy
    /// What happens when one of the jobs is dead.
    public let onDead: DeadMemberPolicy
    /// The jobs so far.
    public let nodes: WorkflowNodes
    private let callbacks = Callbacks()

    /// Makes a workflow.
    ///
    /// - Parameters:
    ///   - name: The name, 1 to 1,024 bytes.
    ///   - queue: The home queue, which has the workflow and those of its jobs without a queue of their own.
    ///   - unique: What happens if another workflow of the home queue that has not ended has the name: `ignore` pushes
    ///     both, `drop` nothing, `replace` cancels the other one.
    ///   - onDead: What happens when a job is dead.
    ///   - build: Adds the jobs.
    public init(
        _ name: String,
        queue: String? = nil,
        unique: UniquenessPolicy = .ignore,
        onDead: DeadMemberPolicy = .hold,
        _ build: (Workflow) throws -> Void
    ) rethrows {
        self.name = name
        self.queue = queue
        uniquenessPolicy = unique
        self.onDead = onDead
        nodes = WorkflowNodes(owner: WorkflowID.makeToken())
        try build(self)
    }

    /// Sets the job that is pushed when the workflow has finished.
    public func onSuccess(_ parameters: some JobParameters, options: PushOptions = PushOptions()) {
        callbacks.set(\.success, parameters, options)
    }

    /// Sets the job that is pushed when the workflow has failed: a job is dead, or all have ended and at least one was
    /// cancelled, deleted or expired.
    public func onFailure(_ parameters: some JobParameters, options: PushOptions = PushOptions()) {
        callbacks.set(\.failure, parameters, options)
    }

    /// The id that the workflow has or will have.
    var token: String { nodes.owner }

    /// The queue whose broker's clock counts.
    var clockQueue: String { queue ?? nodes.entries.first?.queue ?? "default" }

    /// Whether the time of the push determines when a job may run.
    var hasDelay: Bool { nodes.entries.contains(where: \.hasDelay) || callbacks.hasDelay }

    /// Describes the workflow at the time of its push.
    ///
    /// - Throws: ``WorkflowError`` for the first invalid value.
    func describe(at now: Date) throws -> WorkflowDescription {
        try WorkflowDescription(
            name,
            queue: queue,
            unique: uniquenessPolicy,
            onDead: onDead,
            jobs: try nodes.describe(at: now),
            onSuccess: try callbacks.describe(\.success, .onSuccess, at: now),
            onFailure: try callbacks.describe(\.failure, .onFailure, at: now)
        )
    }
}

/// The jobs that are pushed at a workflow's end.
private final class Callbacks: Sendable {
    struct Callback: Sendable {
        let hasDelay: Bool
        let describe: @Sendable (Date) throws -> OperationDescription
    }

    struct State {
        var success: Callback?
        var failure: Callback?
    }

    private let state = Mutex(State())

    var hasDelay: Bool { state.withLock { $0.success?.hasDelay ?? false || $0.failure?.hasDelay ?? false } }

    func set(_ which: WritableKeyPath<State, Callback?>, _ parameters: some JobParameters, _ options: PushOptions) {
        let callback = Callback(hasDelay: options.hasDelay) { now in try parameters.described(options, now: now) }
        state.withLock { $0[keyPath: which] = callback }
    }

    func describe(
        _ which: KeyPath<State, Callback?>,
        _ key: WorkflowKey,
        at now: Date
    ) throws -> OperationDescription? {
        let callback = state.withLock { $0[keyPath: which] }
        do { return try callback?.describe(now) } catch let error as DescriptionError {
            throw WorkflowError(error, in: [key.rawValue])
        }
    }
}
