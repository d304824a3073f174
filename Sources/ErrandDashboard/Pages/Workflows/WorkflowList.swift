import Errand
import ErrandOperator

/// One page of the workflows of some queues, newest first.
struct WorkflowList: Sendable {
    /// The number of workflows on a page.
    static let aPage = 100

    /// The workflows of the page.
    private(set) var workflows: [WorkflowRecord] = []
    /// Where the next page begins; `nil` after the last one.
    private(set) var next: WorkflowPositions?
    /// The queues whose workflows cannot be read.
    let unreadable: [UnreadablePlace]

    /// Reads a page. The broker lists the workflows of each queue by the times of their last calls, which is nearly the
    /// order of the times of their pushes.
    init(
        of queues: [String],
        from positions: WorkflowPositions,
        on broker: any WorkflowBroker
    ) async throws(BrokerError) {
        let read = try await queues.readingEach { queue throws(BrokerError) in
            try await broker.workflows(on: queue, from: positions[queue], count: Self.aPage)
        }
        unreadable = read.unreadable
        merge(read.values, positions)
    }

    /// Takes the newest of all queues one by one.
    private mutating func merge(_ pages: [(queue: String, value: WorkflowPage)], _ positions: WorkflowPositions) {
        var taken = Array(repeating: 0, count: pages.count)
        func isLeft(_ page: Int) -> Bool { taken[page] < pages[page].value.workflows.count }
        func pushed(_ page: Int) -> Int64 { pages[page].value.workflows[taken[page]].pushedAt }
        while workflows.count < Self.aPage,
            let newest = pages.indices.filter(isLeft).max(by: { pushed($0) < pushed($1) })
        {
            workflows.append(pages[newest].value.workflows[taken[newest]])
            taken[newest] += 1
        }
        var after = positions
        for (index, page) in pages.enumerated() {
            // The broker's own position is also right if it has left out a workflow that it could not read.
            let end = isLeft(index) ? nil : page.value.next
            after[page.queue] = end ?? positions[page.queue] + taken[index]
        }
        let hasMore = pages.indices.contains { isLeft($0) || pages[$0].value.next != nil }
        next = hasMore ? after : nil
    }
}

/// The place in each queue's list of workflows at which a page begins.
struct WorkflowPositions: Sendable, Equatable {
    private var positions: [String: Int] = [:]

    /// The beginning of every list.
    init() {}

    /// Reads the text of a place; `nil` if it is not one.
    init?(_ text: String) {
        for part in text.split(separator: ",") {
            let words = part.split(separator: ":", omittingEmptySubsequences: false)
            guard words.count == 2, QueueName.isValid(String(words[0])), let position = Int(words[1]),
                (0...1_000_000_000).contains(position)
            else { return nil }
            positions[String(words[0])] = position
        }
    }

    /// The position of a queue.
    subscript(queue: String) -> Int {
        get { positions[queue] ?? 0 }
        set { positions[queue] = newValue > 0 ? newValue : nil }
    }

    /// The place as text, such as `files:3,images:100`.
    var text: String { positions.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",") }
}
