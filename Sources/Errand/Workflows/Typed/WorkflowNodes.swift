import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A job that was added to a workflow, so that others can come after it.
public struct WorkflowNode: Sendable, Hashable {
    /// The job's name within the workflow.
    public let key: String
    /// The workflow's token: a node of another workflow is refused.
    let owner: String
}

/// The jobs of a workflow that is being made. Use the methods of ``WorkflowBuilding`` to add some.
public final class WorkflowNodes: Sendable {
    /// A job that can be described when the time of the push is known.
    struct Entry: Sendable {
        let key: String
        var after: [WorkflowNode]
        var when: WorkflowCondition
        let hasDelay: Bool
        let queue: String?
        let describe: @Sendable (Date) throws -> OperationDescription
    }

    fileprivate struct State {
        var entries: [Entry] = []
        var keys = Set<String>()
        /// How many keys were made from a name.
        var made: [String: Int] = [:]
    }

    /// The token of the workflow, or what else distinguishes these jobs.
    let owner: String
    private let prefix: String
    /// Whether other keys begin with it, too.
    private let prefixesKeys: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - owner: What distinguishes the nodes.
    ///   - prefix: What the keys begin with that are made from names.
    init(owner: String, prefix: String = "") {
        self.owner = owner
        self.prefix = prefix
        prefixesKeys = false
    }

    /// Makes the jobs of a section, whose keys begin with its name.
    init(section name: String, of nodes: WorkflowNodes) {
        owner = nodes.owner
        prefix = nodes.prefix + name + ":"
        prefixesKeys = true
    }

    /// Takes over the jobs of a section, of which those without dependencies get these.
    ///
    /// - Returns: the jobs of the section that no other job of it comes after.
    func take(_ section: WorkflowNodes, after: [WorkflowNode], when: WorkflowCondition) -> [WorkflowNode] {
        let entries = section.entries.map { entry in
            var entry = entry
            if entry.after.isEmpty { (entry.after, entry.when) = (after, when) }
            return entry
        }
        state.withLock { state in
            state.keys.formUnion(entries.map(\.key))
            state.entries += entries
        }
        let inner = Set(entries.flatMap { $0.after.map(\.key) })
        return entries.filter { !inner.contains($0.key) }.map { WorkflowNode(key: $0.key, owner: owner) }
    }

    var entries: [Entry] { state.withLock { $0.entries } }

    /// Adds a job.
    ///
    /// - Parameters:
    ///   - key: Its key; one made of the name if `nil`.
    ///   - name: What the key is made from.
    ///   - entry: Makes the job with its key.
    func add(_ key: String?, name: String, _ entry: (String) -> Entry) -> WorkflowNode {
        let key = state.withLock { state in
            let key = key.map { prefixesKeys ? prefix + $0 : $0 } ?? state.freeKey(prefix + name)
            state.keys.insert(key)
            state.entries.append(entry(key))
            return key
        }
        return WorkflowNode(key: key, owner: owner)
    }

    /// Describes the jobs at the time of their push.
    ///
    /// - Throws: ``WorkflowError`` if a job is invalid, or comes after a node of another workflow.
    func describe(at now: Date) throws -> [WorkflowDescription.Job] {
        try entries.map { entry in
            let description: OperationDescription
            do { description = try entry.describe(now) } catch let error as DescriptionError {
                throw WorkflowError(error, in: [WorkflowKey.jobs.rawValue, entry.key])
            }
            let job = WorkflowDescription.Job(
                entry.key,
                description,
                after: entry.after.map(\.key),
                when: entry.when
            )
            if let index = entry.after.firstIndex(where: { $0.owner != owner }) {
                let message = "is a job of another workflow; use one that was added to this workflow"
                throw WorkflowError(.invalidValue, job.placeOfNeed(index), message)
            }
            return job
        }
    }
}

extension WorkflowNodes.State {
    /// Returns the name, or with `-2`, `-3` and so on if the name is a key already.
    fileprivate mutating func freeKey(_ name: String) -> String {
        // Leaves room for a hyphen and the largest number of jobs.
        let stem = String(name.prefix(WorkflowLimits.keyCharacters - 8))
        var number = made[stem] ?? 0
        var key: String
        repeat {
            number += 1
            key = number == 1 ? stem : "\(stem)-\(number)"
        } while keys.contains(key)
        made[stem] = number
        return key
    }
}
