/// The middleware around one call, from the outermost to the innermost.
struct MiddlewareChain: Sendable {
    private let links: ArraySlice<any JobMiddleware>

    init(_ links: some Sequence<any JobMiddleware>) { self.links = ArraySlice(links) }

    var isEmpty: Bool { links.isEmpty }

    func push(
        _ jobs: [OperationDescription],
        _ end: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] {
        guard let first = links.first else { return try await end(jobs) }
        return try await first.pushJobs(jobs) { try await MiddlewareChain(links.dropFirst()).push($0, end) }
    }

    func handle(
        _ job: JobContext,
        _ end: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome {
        guard let first = links.first else { return try await end(job) }
        return try await first.handleJob(job) { try await MiddlewareChain(links.dropFirst()).handle($0, end) }
    }

    func claimed(_ job: @autoclosure () -> JobContext) {
        guard !links.isEmpty else { return }
        let job = job()
        for link in links { link.claimedJob(job) }
    }

    func discarded(_ job: DiscardedJob) {
        for link in links { link.discardedJob(job) }
    }

    func finished(_ job: @autoclosure () -> JobContext, _ ending: @autoclosure () -> RunEnding) {
        guard !links.isEmpty else { return }
        let (job, ending) = (job(), ending())
        for link in links.reversed() { link.finishedJob(job, ending) }
    }
}
