package import Errand
import Logging

/// Messages about jobs of workflows between queues.
///
/// A script changes one queue only, so what it has to tell another one it leaves as a message (`workflow:hops`), which any
/// client delivers: at least once, and without effect the second time.
extension RedisBroker {
    /// Delivers the messages of a queue, and those that arise from that in other queues, until none is left.
    ///
    /// - Parameter calls: The largest number of promotions of a queue that was told something.
    func deliver(from queue: String, calls: Int = 1) async throws(BrokerError) {
        var queues = [queue]
        while let queue = queues.popLast() {
            let messages = try await messages(of: queue)
            var told: Set<String> = []
            // A job may be the first of its queue.
            for queue in Set(messages.filter(\.isArrival).map(\.queue)).sorted() { await announce(queue) }
            for message in messages {
                if message.content == .stop {
                    queues += try await cancelAll(of: WorkflowID(queue: queue, token: message.token))
                } else if try await tell(message, from: queue) {
                    told.insert(message.queue)
                }
            }
            guard let last = messages.last else { continue }
            if try await clear(through: last, of: queue) { queues.append(queue) }
            for other in told.sorted() where try await promoteAll(on: other, calls: calls) { queues.append(other) }
        }
    }

    /// Delivers messages, and promotes until nothing is left to do for workflows.
    ///
    /// - Parameter calls: The largest number of promotions.
    func continueWorkflows(of queue: String, calls: Int = 100) async {
        do throws(BrokerError) {
            if try await promoteAll(on: queue, calls: calls) { try await deliver(from: queue, calls: calls) }
        } catch {
            logger.debug("workflows not continued", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }

    /// Promotes until nothing is due; returns whether the queue has messages for others.
    private func promoteAll(on queue: String, calls: Int) async throws(BrokerError) -> Bool {
        var hasMessages = false
        for _ in 0..<calls {
            let (promotion, messages) = try await promoteOnce(on: queue)
            hasMessages = messages > 0
            if promotion.nextDue != 0 { break }
        }
        return hasMessages
    }

    /// Makes up to 500 due jobs of each kind ready; also returns how many messages it has for other queues.
    package func promoteOnce(on queue: String) async throws(BrokerError) -> (promotion: Promotion, messages: Int) {
        var call = ScriptCall(.promote, on: queue)
        call.add(500)
        let reply = try await run(call)
        guard let promotion = Promotion(reply), let messages = reply.elements?.last?.number else {
            throw unexpected("promotion's answer")
        }
        return (promotion, Int(clamping: messages))
    }

    /// Whether a queue has messages for others.
    func hasMessages(_ queue: String) async throws(BrokerError) -> Bool { try await !messages(of: queue).isEmpty }

    private func messages(of queue: String) async throws(BrokerError) -> [WorkflowMessage] {
        var call = ScriptCall(.workflows, on: queue)
        call.add("messages")
        return try messages(in: try await run(call))
    }

    private func messages(in reply: RESPValue?) throws(BrokerError) -> [WorkflowMessage] {
        guard let replies = reply?.elements else { throw unexpected("messages of workflows") }
        return try replies.map { reply throws(BrokerError) in
            guard let message = WorkflowMessage(reply) else { throw unexpected("a message of a workflow") }
            return message
        }
    }

    /// Delivers the messages of a queue that is to be deleted, and returns those about the jobs that will be deleted with
    /// it. What other queues do not take does not prevent a deletion by force.
    func messagesBeforeDeletion(of queue: String, force: Bool) async throws(BrokerError) -> [WorkflowMessage] {
        do throws(BrokerError) { try await deliver(from: queue) } catch {
            guard force else { throw error }
            logNotTold(of: queue, error)
        }
        var (messages, cursor) = ([WorkflowMessage](), "0")
        repeat {
            var call = ScriptCall(.queue, on: queue)
            call.add("places")
            call.add(cursor)
            let page = try await run(call).elements ?? []
            guard page.count == 2, let next = page[0].text else { throw unexpected("the places of jobs") }
            messages += try self.messages(in: page[1])
            cursor = next
        } while cursor != "0"
        return messages
    }

    /// Tells the workflows of other queues that their jobs were deleted with a queue. The doctor finds those that are not
    /// told.
    func tell(_ messages: [WorkflowMessage], ofDeletion queue: String) async {
        var told: Set<String> = []
        for message in messages {
            do throws(BrokerError) {
                if try await tell(message, from: queue) { told.insert(message.queue) }
            } catch { logNotTold(of: queue, error) }
        }
        for other in told.sorted() { await continueWorkflows(of: other) }
    }

    private func logNotTold(of queue: String, _ error: BrokerError) {
        logger.warning(
            "workflows of other queues do not know what has become of their jobs; errand doctor --repair tells them",
            metadata: ["job.queue": "\(queue)", "error": "\(error)"]
        )
    }

    /// Cancels the jobs of a workflow that one of its dead jobs has stopped. Returns the other queues that have some.
    private func cancelAll(of workflow: WorkflowID) async throws(BrokerError) -> Set<String> {
        var (all, goesOn) = (Set<String>(), true)
        while goesOn {
            let queues: [String]
            (queues, goesOn) = try await cancelOpenJobs(of: workflow)
            all.formUnion(queues)
        }
        return all.subtracting([workflow.queue])
    }

    /// Returns whether a promotion has something to do in the other queue then.
    private func tell(_ message: WorkflowMessage, from queue: String) async throws(BrokerError) -> Bool {
        var call = ScriptCall(.workflow, on: message.queue)
        switch message.content {
        case .arrival(let id, let place, let envelope):
            call.add("arrive")
            call.add(message.token)
            call.add(message.member)
            call.add(queue)
            call.add(id)
            call.add(place)
            call.add(envelope)
        case .end(let letter, let value):
            call.add("ended")
            call.add(message.token)
            call.add(message.member)
            call.add(message.number)
            call.add(letter)
            call.add(value)
        case .stop: return false
        }
        let isBusy = try await run(call).number == 1
        if message.isStopped, case .arrival(let id, _, _) = message.content {
            var leavesWork = false
            _ = try await endOnly([id], on: message.queue, .cancel, &leavesWork)
            return isBusy || leavesWork
        }
        return isBusy
    }

    /// Returns whether others are left.
    private func clear(through last: WorkflowMessage, of queue: String) async throws(BrokerError) -> Bool {
        var call = ScriptCall(.workflow, on: queue)
        call.add("delivered")
        call.add(last.token)
        call.add(last.number)
        return (try await run(call).number ?? 0) > 0
    }
}

/// A message about a job of a workflow, for another queue, or about the workflow.
struct WorkflowMessage {
    enum Content: Equatable {
        /// The job is free: its id, `DUE POLICY NAME`, and its envelope.
        case arrival(id: String, place: [UInt8], envelope: [UInt8])
        /// What has happened to the job, as a letter of the script, and its result or the job that has its place.
        case end(letter: String, value: [UInt8])
        /// A dead job has stopped the workflow: the others are to be cancelled.
        case stop
    }

    /// Messages of a queue have growing numbers.
    let number: Int
    /// The queue that it is for.
    let queue: String
    /// The workflow.
    let token: String
    /// The job's number in the workflow; `-` for a callback.
    let member: String
    let content: Content
    /// Whether nothing of the workflow starts any more.
    let isStopped: Bool

    var isArrival: Bool { if case .arrival = content { true } else { false } }

    init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count == 2, let bytes = parts[0].bytes else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let words = String(decoding: lines[0], as: UTF8.self).split(separator: " ").map(String.init)
        guard words.count >= 6, lines.count == 2, let number = Int(words[0]) else { return nil }
        self.number = number
        queue = words[2]
        token = words[3]
        member = words[4]
        isStopped = parts[1].number == 1
        switch words[1] {
        case "push":
            guard words.count == 7, let length = Int(words[6]), (0...lines[1].count).contains(length) else {
                return nil
            }
            content = .arrival(
                id: words[5],
                place: Array(lines[1].prefix(length)),
                envelope: Array(lines[1].dropFirst(length))
            )
        case "end": content = .end(letter: words[5], value: Array(lines[1]))
        case "stop": content = .stop
        default: return nil
        }
    }
}
