/// A workflow: its jobs by their numbers, what each waits for, and how they have ended.
package struct MemoryWorkflow: Sendable, Equatable {
    package let header: WorkflowHeader
    let pushed: Int64
    /// When it is forgotten unless it is sealed.
    let sealedUntil: Int64
    /// `nil` until it is sealed.
    package internal(set) var state: WorkflowState?
    package internal(set) var round = 1
    package internal(set) var members: [Member] = []
    /// The numbers of members by the ids with which they were added.
    package internal(set) var numbers: [String: Int] = [:]
    /// What comes after the seal: the members without needs.
    var roots: Set<Dependant> = []
    /// The members that have not ended, and those of them that are dead and hold it up.
    package internal(set) var open: Set<Int> = []
    package internal(set) var dead: Set<Int> = []
    /// Whether a member was cancelled, deleted or expired, or was dead with the policy `cancel_rest`.
    package internal(set) var hasFailure = false
    /// Whether the rest is cancelled because a member is dead.
    package internal(set) var cancelsRest = false
    /// When all members had ended.
    package internal(set) var ended: Int64?
    var resultBytes = 0

    /// A job of the workflow.
    package struct Member: Sendable, Equatable {
        package let key: String
        package let queue: String
        /// The job that has its place: its own, or one that has replaced it or holds the name because of which it was
        /// dropped.
        package internal(set) var job: String
        /// Everything that it comes after.
        package internal(set) var needs: [WorkflowNeed] = []
        /// What of that has not ended; ``MemoryWorkflow/seal`` for a member without needs.
        package internal(set) var unmet: Set<Int> = []
        var dependants: Set<Dependant> = []
        package internal(set) var ending: MemoryEnding?
        package internal(set) var endedAt: Int64?
        /// Whether it is dead and counts as ended.
        package internal(set) var isDead = false
        package internal(set) var result: [UInt8]?
    }

    /// A member that comes after another one.
    struct Dependant: Sendable, Hashable {
        let condition: WorkflowCondition
        let number: Int

        /// Dependants are looked at in the order of these texts.
        var order: String { "\(condition.letter)>\(number)" }
    }

    /// The number of the seal, which the members without needs come after.
    static let seal = -1

    /// Whether nothing of it starts any more.
    package var isStopped: Bool { state == .cancelled || cancelsRest }

    func dependants(of number: Int) -> Set<Dependant> {
        number == Self.seal ? roots : members[number].dependants
    }

    mutating func forget(_ dependant: Dependant, of number: Int) {
        if number == Self.seal { roots.remove(dependant) } else { members[number].dependants.remove(dependant) }
    }
}

extension WorkflowCondition {
    fileprivate var letter: Character {
        switch self {
        case .anyEnd: "a"
        case .failure: "f"
        case .success: "s"
        }
    }
}

/// The workflows of a queue, the places of jobs in them, and what is still to be done because members have ended.
package struct MemoryWorkflows: Sendable, Equatable {
    package internal(set) var workflows: [String: MemoryWorkflow] = [:]
    /// The places of each job that has not ended.
    package internal(set) var places: [String: [Place]] = [:]
    /// The ends whose dependants are still to be looked at.
    package internal(set) var work: [Work] = []
    /// The workflows that hold names.
    package internal(set) var names: [String: String] = [:]
    /// Jobs without unmet needs whose names other jobs held then.
    package internal(set) var released: [String] = []
    /// What other queues are to be told, in order.
    package internal(set) var messages: [MemoryWorkflowMessage] = []
    /// The workflows that the transition has changed.
    var changed: Set<String> = []

    /// Whether a promotion has something to do.
    package var hasMore: Bool { !work.isEmpty || !released.isEmpty }

    package struct Place: Sendable, Hashable {
        package let workflow: String
        package let number: Int
        /// The queue that has the workflow; `nil` for this one.
        package var home: String?
    }

    package struct Work: Sendable, Equatable {
        package let place: Place
        package let meaning: Meaning
    }

    /// What an end is for dependants.
    package enum Meaning: Sendable, Equatable {
        case success, failure, skipped
        /// Dead and not ended: only dependants by other conditions than success go on.
        case held

        /// Whether a dependant goes on or is skipped; `nil` if it waits.
        func lets(_ condition: WorkflowCondition) -> Bool? {
            switch (self, condition) {
            case (.held, .success): nil
            case (_, .anyEnd): true
            case (.success, .success), (.failure, .failure), (.held, .failure): true
            case (.success, .failure), (.failure, .success), (.skipped, _): false
            }
        }
    }
}
