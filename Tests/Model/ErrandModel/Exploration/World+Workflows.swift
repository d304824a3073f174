import Errand

/// The workflow of a scope.
extension World {
    static let workflow = Universe.workflows[0]

    /// Pushes a workflow. Nothing else happens meanwhile: until it is sealed, nobody sees it.
    static func push(
        _ jobs: [FlowJob],
        _ onDead: DeadMemberPolicy,
        to queue: inout MemoryQueue,
        at now: Time
    ) throws {
        let header = WorkflowHeader(id: WorkflowID(queue: queue.name, token: workflow), name: "w", onDead: onDead)
        let members = try jobs.enumerated().map { number, job in
            WorkflowMember(
                job: try job.kind.envelope(id: ids[number]).with(queue: queue.name),
                number: number,
                key: ids[number],
                needs: job.after.map { WorkflowNeed(number: $0, condition: job.when) }
            )
        }
        for command in [.begin(header), .add(members, to: workflow, by: nil), .seal(workflow)] as [Command] {
            _ = queue.apply(command, at: now)
        }
    }

    /// Whether only jobs are left that wait for a dead one.
    var isHeldUpByDead: Bool {
        broker.queue.jobs.values.allSatisfy { job in
            job.isDead
                || job.place == .blocked
                    && broker.queue.workflows.places[job.id]?.contains { place in
                        broker.queue.workflows.workflows[place.workflow]?.dead.isEmpty == false
                    } == true
        }
    }
}
