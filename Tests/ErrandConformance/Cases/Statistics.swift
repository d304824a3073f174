import Errand
import Testing

extension ConformanceCase {
    static let statistics = [
        ConformanceCase("runs are added up by bucket and by operation") { fixture in
            try await fixture.pushPlain("a")
            let (first, second) = (
                RunStatistics(cells: "0=2 8=30 103=2 9=7 301=1 304=1"), RunStatistics(cells: "1=1 4=1 303=1")
            )
            try await fixture.broker.record(["work": first, "other": second], on: fixture.queue)
            try await fixture.broker.record(["work": second], on: fixture.queue)
            let work = RunStatistics(cells: "0=2 1=1 4=1 8=30 103=2 9=7 301=1 303=1 304=1")
            for resolution in StatisticsResolution.allCases {
                let statistics = try await fixture.statistics(resolution)
                #expect(statistics.byOperation == ["work": work, "other": second], "\(resolution)")
                let samples = statistics.samples
                // The minute may have ended between the calls.
                #expect((2...3).contains(samples.count), "one of the bucket, one of the present: \(samples)")
                #expect(samples.allSatisfy { $0.ready == 1 && $0.pushed == 1 }, "\(samples)")
                #expect(try await fixture.statistics(resolution, withRuns: false).runs == [])
            }
            #expect(try await fixture.broker.runTotals(of: fixture.queue) == ["work": work, "other": second])
        },
        ConformanceCase("a sample of a bucket is its first, and the last is of the present") { fixture in
            try await fixture.pushPlain("a")
            try await fixture.broker.record([:], on: fixture.queue)
            try await fixture.pushPlain("b", "c")
            try await fixture.broker.record([:], on: fixture.queue)
            let samples = try await fixture.statistics(.hours).samples
            #expect(samples.first?.pushed == 1 && samples.last?.pushed == 3, "\(samples)")
            #expect(samples.last?.ready == 3)
            #expect(samples.map(\.at) == samples.map(\.at).sorted())
        },
        ConformanceCase("operations beyond the first fifty are added up") { fixture in
            try await fixture.pushPlain("a")
            let one = RunStatistics(cells: "0=1")
            for batch in [0..<30, 30..<60] {
                let runs = batch.map { ("operation\($0)", one) }
                try await fixture.broker.record(Dictionary(uniqueKeysWithValues: runs), on: fixture.queue)
            }
            let totals = try await fixture.broker.runTotals(of: fixture.queue)
            #expect(totals.count == QueueStatistics.mostOperations + 1)
            #expect(totals[QueueStatistics.otherOperations]?.finished == 10)
            #expect(totals["operation0"] == one)
        },
        ConformanceCase("a queue that does not exist gets no statistics") { fixture in
            try await fixture.broker.deleteQueue(fixture.queue, force: true)
            try await fixture.broker.record(["work": RunStatistics(cells: "0=1")], on: fixture.queue)
            #expect(try await !fixture.broker.hasQueue(fixture.queue))
            #expect(try await fixture.broker.runTotals(of: fixture.queue) == [:])
        },
        ConformanceCase("a deleted queue loses its statistics") { fixture in
            try await fixture.pushPlain("a")
            try await fixture.broker.record(["work": RunStatistics(cells: "0=1")], on: fixture.queue)
            try await fixture.broker.deleteQueue(fixture.queue, force: true)
            try await fixture.pushPlain("b")
            #expect(try await fixture.statistics(.hours).byOperation == [:])
            #expect(try await fixture.broker.runTotals(of: fixture.queue) == [:])
        },
        ConformanceCase("statistics of more buckets than are kept are refused") { fixture in
            await #expect(throws: BrokerError.self) {
                _ = try await fixture.broker.statistics(
                    of: fixture.queue,
                    .minutes,
                    from: 0,
                    to: 121 * 60_000,
                    withRuns: false
                )
            }
        },
    ]
}

extension Fixture {
    fileprivate func statistics(
        _ resolution: StatisticsResolution,
        withRuns: Bool = true
    ) async throws -> QueueStatistics {
        let now = try await broker.now(on: queue)
        // The bucket before, because the present one may have begun a moment ago.
        return try await broker.statistics(
            of: queue,
            resolution,
            from: now - resolution.step,
            to: now,
            withRuns: withRuns
        )
    }
}
