import Errand
import Foundation
import Testing

/// An event as a subscriber reads it.
struct Event: Sendable, Equatable, Decodable {
    let kind: String
    let id: String
    let operation: String?
    let name: String?
    let queue: String
    let attempt: Int
    let worker: String?
    let time: Int64
    let duration: Int
    let error: String?

    enum CodingKeys: String, CodingKey {
        case kind = "event"
        case time = "at_ms"
        case duration = "duration_ms"
        case id, operation, name, queue, attempt, worker, error
    }
}

/// The events of a queue, in order.
///
/// To find out whether more events are in transit, it publishes a fence: an event of a second queue on the same
/// subscription. When the fence has arrived, all earlier events have, too, so no test needs to sleep.
actor EventLog {
    struct NoEvents: Error, CustomStringConvertible {
        var description: String { "the subscription delivered no event within its time" }
    }

    private let broker: any Broker
    private let queue: String
    private let fenceQueue: String
    private var task: Task<Void, Never>?
    private var events: [Event] = []
    private var lines: [[UInt8]] = []
    private var fences: Set<String> = []
    private var fencesMade = 0
    private var waiting: [String: CheckedContinuation<Bool, Never>] = [:]

    /// Subscribes and waits until events are delivered.
    init(_ broker: any Broker, queue: String, fenceQueue: String) async throws {
        self.broker = broker
        self.queue = queue
        self.fenceQueue = fenceQueue
        let stream = broker.events(of: [queue, fenceQueue])
        task = Task { [weak self] in
            do {
                for try await message in stream { try await self?.take(message) }
            } catch {
                Issue.record(error, "the subscription to events ended")
            }
        }
        for _ in 1...100 where try await sendFence(within: .milliseconds(100)) { return }
        throw NoEvents()
    }

    func close() { task?.cancel() }

    /// Returns the queue's events since the last call.
    func drain() async throws -> [Event] {
        guard try await sendFence(within: .seconds(120)) else { throw NoEvents() }
        defer { events = [] }
        return events
    }

    /// Returns the lines of all events of the queue so far.
    func linesSoFar() async throws -> [[UInt8]] {
        guard try await sendFence(within: .seconds(120)) else { throw NoEvents() }
        return lines
    }

    private func take(_ message: QueueEvents) throws {
        for line in message.lines {
            let event = try JSONDecoder().decode(Event.self, from: Data(line))
            if message.queue == queue {
                events.append(event)
                lines.append(line)
            } else {
                fences.insert(event.id)
                waiting.removeValue(forKey: event.id)?.resume(returning: true)
            }
        }
    }

    private func sendFence(within limit: Duration) async throws -> Bool {
        fencesMade += 1
        let id = "fence-\(fencesMade)"
        let job = try OperationDescription("fence", queue: fenceQueue, id: id).makeEnvelope()
        _ = try await broker.push([job], to: fenceQueue)
        _ = try await broker.cancel([id], on: fenceQueue)
        if fences.contains(id) { return true }
        return await withCheckedContinuation { continuation in
            waiting[id] = continuation
            Task {
                try? await Task.sleep(for: limit)
                giveUp(id)
            }
        }
    }

    private func giveUp(_ id: String) { waiting.removeValue(forKey: id)?.resume(returning: false) }
}
