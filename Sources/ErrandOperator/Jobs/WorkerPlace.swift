package import Errand

extension JobSummary {
    /// Returns the session that runs the job or ran it last, for a running job with its host and process.
    ///
    /// It is for a look at one job: it asks the broker for the sessions of the queue. If that fails, the id has to do.
    package func worker(on broker: any ConsoleBroker) async -> String? {
        guard let worker, record.state == .running, let sessions = try? await broker.status(of: queue).sessions,
            let session = sessions.first(where: { $0.id == worker })
        else { return self.worker }
        return "\(worker) on \(session.host), pid \(session.pid)"
    }
}
