import Backgroundable

extension TaskPlace {
    /// A waiting request and its job.
    struct Waiting: Sendable {
        let id: String
        let requested: RequestedTask
    }

    /// The number of pages to read. A queue of its own has one or two jobs for each identifier; a shared one may have
    /// more.
    private static let mostPages = 20
    private static let pageLength = 500

    /// Returns the waiting requests, one for each identifier.
    ///
    /// It reads ready jobs last, because jobs become ready in the meantime.
    func waiting() async throws(TaskScheduler.Error) -> [Waiting] {
        var found: [String: Waiting] = [:]
        do throws(BrokerError) {
            for state in [JobState.scheduled, .retrying, .deferred, .ready] {
                for request in try await requests(in: state) { found[request.requested.identifier] = request }
            }
        } catch {
            throw TaskScheduler.Error(error)
        }
        return Array(found.values)
    }

    private func requests(in state: JobState) async throws(BrokerError) -> [Waiting] {
        var found: [Waiting] = []
        var cursor = 0
        for _ in 0..<Self.mostPages {
            let page = try await broker.jobs(in: state, on: queue, from: cursor, count: Self.pageLength)
            found += page.jobs.compactMap(Self.request)
            guard let next = page.next else { break }
            cursor = next
        }
        return found
    }

    /// Returns the request of a job; `nil` if the job is not a launch or cannot be read.
    private static func request(_ record: JobRecord) -> Waiting? {
        guard let job = try? JobEnvelope.read(stored: record.body).description,
            let identifier = TaskStage.launch.identifier(in: job.operation),
            let requested = RequestedTask(job.arguments, identifier: identifier, notBefore: job.notBefore)
        else { return nil }
        return Waiting(id: record.id, requested: requested)
    }
}
