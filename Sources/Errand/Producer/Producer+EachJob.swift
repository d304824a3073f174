extension Producer {
    /// Pushes complete envelopes independently of each other. A queue that has no room for all of its jobs accepts
    /// those that fit, from the first; of the remaining jobs, those that it already has get a receipt.
    ///
    /// - Returns: for each job its receipt, or the error with which the broker certainly did not accept it.
    package func pushEach(_ envelopes: [JobEnvelope]) async -> [Result<Receipt, BrokerError>] {
        var lost = LostQueues()
        return await pushEach(envelopes, lost: &lost)
    }

    /// Does the same in one of several calls.
    ///
    /// - Parameter lost: the queues whose servers have not replied to earlier calls; it gets further ones.
    package func pushEach(
        _ envelopes: [JobEnvelope],
        lost: inout LostQueues
    ) async -> [Result<Receipt, BrokerError>] {
        await byQueue(envelopes, &lost) { await pushFitting($0, to: $1) }
    }

    /// A call accepts all of its jobs or none. The broker returns how many would fit, so these are sent again without
    /// the others, until none fits.
    private func pushFitting(_ jobs: [JobEnvelope], to queue: String) async -> [Result<Receipt, BrokerError>] {
        var results: [Result<Receipt, BrokerError>] = []
        var count = jobs.count
        while results.count < jobs.count {
            let batch = jobs[results.count...].prefix(count)
            do throws(BrokerError) {
                let receipts = try await broker.push(Array(batch), to: queue)
                results += receipts.map(Result.success)
                results += batch.dropFirst(receipts.count).map { .success($0.receipt(.unknown)) }
                count = jobs.count - results.count
            } catch {
                if let taken = error.taken, taken.count == batch.count {
                    results += taken.map { $0.map(Result.success) ?? .failure(error) }
                    count = jobs.count - results.count
                    continue
                }
                guard let fitting = error.fitting, (1..<batch.count).contains(fitting) else {
                    return results + (await pushKnown(Array(jobs[results.count...]), to: queue, after: error))
                }
                count = fitting
            }
        }
        return results
    }

    /// Jobs that the queue already has need no room, but the broker counts from the first job that needs some. So these
    /// are pushed without the others, with few calls for any number of jobs.
    private func pushKnown(
        _ jobs: [JobEnvelope],
        to queue: String,
        after error: BrokerError
    ) async -> [Result<Receipt, BrokerError>] {
        var receipts: [String: Receipt] = [:]
        if error.fitting != nil, let records = try? await broker.inspect(jobs.map(\.id), on: queue) {
            let known = zip(jobs, records).filter { $1 != nil }.map(\.0)
            // If room or records have changed meanwhile, the broker may reject these as well.
            let answer = known.isEmpty ? [] : (try? await broker.push(known, to: queue)) ?? []
            for (job, receipt) in zip(known, answer) { receipts[job.id] = receipt }
        }
        return jobs.map { job in receipts[job.id].map { .success($0) } ?? .failure(error) }
    }
}
