import Foundation

extension Figures {
    /// Returns the figures as one JSON object on one line, for programs. The keys of times end with the unit.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(Record(self)), as: UTF8.self)
    }
}

private struct Record: Encodable {
    let operations: Int
    let runs: Int
    let plainNs: Double
    let asyncNs: Double
    let ratio: Double
    let ratioLowest: Double
    let ratioHighest: Double
    let ratioWithoutLimit: Double
    let firstThousandAddNs: Double
    let addAfter100000Ns: Double
    let deadlines: Int
    let timerThreads: Int
    let lateMs: Lateness

    enum CodingKeys: String, CodingKey {
        case operations, runs, ratio, deadlines
        case plainNs = "plain_ns"
        case asyncNs = "async_ns"
        case ratioLowest = "ratio_lowest"
        case ratioHighest = "ratio_highest"
        case ratioWithoutLimit = "ratio_without_limit"
        case firstThousandAddNs = "first_thousand_add_ns"
        case addAfter100000Ns = "add_after_100000_ns"
        case timerThreads = "timer_threads"
        case lateMs = "late_ms"
    }

    struct Lateness: Encodable {
        let p50: Double
        let p99: Double
        let max: Double
    }

    init(_ figures: Figures) {
        let late = figures.deadlines.lateness
        operations = figures.size.operations
        runs = figures.narrow.ratios.count
        plainNs = figures.narrow.plain.median
        asyncNs = figures.narrow.async.median
        ratio = figures.narrow.ratios.median
        ratioLowest = figures.narrow.ratios.min() ?? 0
        ratioHighest = figures.narrow.ratios.max() ?? 0
        ratioWithoutLimit = figures.wide.ratios.median
        firstThousandAddNs = figures.crowd.first
        addAfter100000Ns = figures.crowd.late
        deadlines = figures.deadlines.lateness.count
        timerThreads = figures.deadlines.threads
        lateMs = Lateness(p50: late.median, p99: late.quantile(0.99), max: late.max() ?? 0)
    }
}
