/// A part of a workflow that is made like a workflow of its own, such as the steps for one of many files.
public struct WorkflowSection: WorkflowBuilding {
    /// The jobs of the section so far.
    public let nodes: WorkflowNodes
}

extension WorkflowBuilding {
    /// Adds a section: jobs that may come after each other, and after others as a whole. Sections may have sections.
    ///
    /// ```swift
    /// let videos = names.flatMap { name in
    ///     flow.section(name, after: [prepared]) { video in
    ///         let probed = video.add(Probe(name))
    ///         video.add(Transcode(name), after: probed)
    ///     }
    /// }
    /// flow.add(Publish(), after: videos)
    /// ```
    ///
    /// - Parameters:
    ///   - name: What the keys of its jobs begin with, before a colon, so that each section has its own: `a.mp4:transcode`.
    ///     It consists of characters of a key. A handler reads the result of such a job by its whole key.
    ///   - after: What the jobs come after that have no dependency of their own.
    ///   - when: How all of those must end.
    ///   - build: Adds the jobs.
    /// - Returns: The jobs of the section that no other job of it comes after, so that others can come after the section;
    ///   `after` itself if the section has no jobs.
    @discardableResult
    public func section(
        _ name: String,
        after: [WorkflowNode] = [],
        when: WorkflowCondition = .success,
        _ build: (WorkflowSection) throws -> Void
    ) rethrows -> [WorkflowNode] {
        let section = WorkflowSection(nodes: WorkflowNodes(section: name, of: nodes))
        try build(section)
        let last = nodes.take(section.nodes, after: after, when: when)
        return last.isEmpty ? after : last
    }
}
