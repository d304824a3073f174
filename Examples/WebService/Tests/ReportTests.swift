import Errand
import ErrandTesting
import Logging
import Testing

@testable import WebService

@Suite struct ReportTests {
    private let broker = TestBroker()
    private var reports: Reports { Reports(producer: broker.producer()) }
    private var worker: Worker { WebService.makeWorker(broker, Logger(label: "tests")) }

    @Test func `a report is made once, and each request for it gets it`() async throws {
        let reports = reports
        try await broker.running(worker) {
            let first = try await reports.start("2026-11", for: "ada")
            #expect(try await reports.start("2026-11", for: "ada").id == first.id)
            try await broker.assertEnqueued(MakeReport.self, count: 1)
            #expect(try await broker.performNext()?.state == .finished)
            #expect(try await reports.result(of: first, within: .zero).lines.count == 4)
        }
    }

    @Test func `nobody sees the reports of others`() async throws {
        let reports = reports
        let receipt = try await reports.start("2026-11", for: "ada")
        #expect(reports.receipt(receipt.id, of: "ada") == receipt)
        #expect(reports.receipt(receipt.id, of: "grace") == nil)
    }

    @Test func `a month that is none is not tried again`() async throws {
        let reports = reports
        try await broker.running(worker) {
            let receipt = try await reports.start("soon", for: "ada")
            #expect(try await broker.performNext()?.state == .dead)
            await #expect(throws: JobNotFinished.self) { try await reports.result(of: receipt, within: .zero) }
        }
    }
}
