import Errand
import Logging

struct Pages: JobParameters {
    static let jobName = "pages"
    let count: Int
}

struct RateLimited: Error { let wait: Duration }
struct NoSuchAddress: Error {}

func render(_ page: Int) async throws {}
func shrink(_ path: String) async throws -> Thumbnail.Size { Thumbnail.Size(width: 1, height: 1) }
func send(_ email: SendEmail) async throws {}

func registering(_ worker: Worker) {
    worker.registerJob(parameters: Thumbnail.self, timeout: .seconds(60)) { thumbnail, context in
        context.logger.info("shrinking", metadata: ["path": "\(thumbnail.path)"])
        return try await shrink(thumbnail.path)
    }
    worker.registerJob(Greet.self)
}

func endings(_ worker: Worker) {
    worker.registerJob(parameters: SendEmail.self, retryStrategy: .exponentialJitter(maxAttempts: 6)) {
        email,
        context in
        do {
            try await send(email)
        } catch let error as RateLimited {
            throw JobSnooze(for: error.wait)
        } catch is NoSuchAddress {
            throw JobFailure("no such address", isFinal: true)
        }
    }
}

func goingOn(_ worker: Worker) {
    worker.registerJob(parameters: Pages.self, timeout: .seconds(3600)) { pages, context in
        var done = try await context.checkpoint(as: Int.self) ?? 0
        while done < pages.count {
            try await render(done)
            done += 1
            try await context.checkpoint(done)
            try await context.progress(Double(done) / Double(pages.count), "page \(done)")
        }
    }
}

struct Patient: JobRetryStrategy {
    func shouldRetry(attempt: Int, error: any Error) -> Bool { attempt < 10 && !(error is NoSuchAddress) }
    func calculateBackoff(attempt: Int) -> Duration { .seconds(60 * attempt) }
}

enum Tenant {
    @TaskLocal static var current: String?
}

struct Tenants: JobMiddleware {
    func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] {
        guard let tenant = Tenant.current else { return try await next(jobs) }
        return try await next(jobs.map { try $0.adding(meta: ["tenant": tenant]) })
    }

    func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome {
        try await Tenant.$current.withValue(job.meta["tenant"]) { try await next(job) }
    }
}
