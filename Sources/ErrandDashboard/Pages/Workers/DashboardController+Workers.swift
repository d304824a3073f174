import Errand
import ErrandOperator

extension DashboardController {
    /// Makes the page of all workers, with some of the jobs that each is running.
    func workers() async throws -> Page {
        let overview = try await Overview(of: try await dashboard.queues.names(), on: broker)
        let running = try await RunningJobs(of: overview, on: broker)
        return Page(
            heading: overview.workers.count.counted("worker"),
            template: "workers",
            content: ["workers": WorkerViews(running: running, moments: MomentView()).values(overview.workers)],
            unreadable: overview.unreadable
        )
    }
}
