import Foundation

@testable import Errand

/// Times as tests write them: `2026-03-29T02:30:00Z` or with an offset.
func ms(_ text: String) throws -> Int64 {
    Int64(try Date.ISO8601FormatStyle().parse(text).timeIntervalSince1970) * 1000
}

func utc(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(Date.ISO8601FormatStyle())
}

extension ScheduleTiming {
    /// The first ticks after a time.
    func ticks(after start: Int64, _ count: Int) -> [Int64] {
        var ticks: [Int64] = []
        var last = start
        while ticks.count < count, let next = next(after: last) {
            ticks.append(next)
            last = next
        }
        return ticks
    }

    /// All ticks in a range.
    func ticks(after start: Int64, upTo end: Int64) -> [Int64] {
        var ticks: [Int64] = []
        var last = start
        while let next = next(after: last), next <= end {
            ticks.append(next)
            last = next
        }
        return ticks
    }

    /// All ticks in a range, found backwards.
    func ticksBackwards(after start: Int64, upTo end: Int64) -> [Int64] {
        var ticks: [Int64] = []
        var time = end
        while let tick = latest(atOrBefore: time), tick > start {
            ticks.append(tick)
            time = tick - 1
        }
        return ticks.reversed()
    }
}
