import Foundation

/// A second, plain implementation of cron expressions that matches local times. It only accepts expressions that
/// ``ScheduleTiming`` has accepted, and shares no code with it.
struct PlainCron {
    private var fields: [Set<Int>] = []
    private var words: [String] = []
    private var hasLastDay = false

    private static let limits = [0...59, 0...59, 0...23, 1...31, 1...12, 0...6]
    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    init(_ text: String) throws(Violation) {
        let small = text.lowercased()
        let given = small.split { $0 == " " || $0 == "\t" }.map(String.init)
        let usual = given.count == 1 ? (Self.nicknames[given[0]] ?? "").split(separator: " ").map(String.init) : given
        words = usual.count == 5 ? ["0"] + usual : usual
        try require(words.count == 6, "\(text.debugDescription) was taken")
        for (index, word) in words.enumerated() {
            fields.append(try Self.numbers(word, index))
            if index == 3, word.split(separator: ",").contains("l") { hasLastDay = true }
        }
    }

    private static func numbers(_ word: String, _ index: Int) throws(Violation) -> Set<Int> {
        var numbers: Set<Int> = []
        for part in word.split(separator: ",") where part != "l" {
            let halves = part.split(separator: "/")
            try require((1...2).contains(halves.count), "\(word.debugDescription) was taken")
            var ends = halves[0] == "*" ? [limits[index].lowerBound, limits[index].upperBound] : []
            if ends.isEmpty { ends = halves[0].split(separator: "-").compactMap { number($0, index) } }
            try require((1...2).contains(ends.count), "\(word.debugDescription) was taken")
            // A week may end with Sunday.
            if index == 5, ends.count == 2, ends[0] > 0, ends[1] == 0 { ends[1] = 7 }
            let (first, last) = (ends[0], ends[ends.count - 1])
            let step = halves.count == 2 ? Int(halves[1]) ?? 0 : 1
            try require(first <= last && last < 60 && step > 0, "\(word.debugDescription) was taken")
            for number in first...last where (number - first) % step == 0 {
                numbers.insert(index == 5 ? number % 7 : number)
            }
        }
        try require(numbers.isSubset(of: limits[index]), "\(word.debugDescription) was taken")
        return numbers
    }

    private static func number(_ text: Substring, _ index: Int) -> Int? {
        if index == 4, let month = months.firstIndex(of: String(text)) { return month + 1 }
        if index == 5, let day = days.firstIndex(of: String(text)) { return day }
        return Int(text)
    }

    /// Whether it follows elapsed time across clock changes.
    var isOfEveryHour: Bool { fields[2].count == 24 }

    /// Whether it matches a local time, in seconds since 1970 as clocks show them.
    func means(_ local: Int64) -> Bool {
        let parts = civil(local)
        guard fields[0].contains(Int(parts.tm_sec)), fields[1].contains(Int(parts.tm_min)),
            fields[2].contains(Int(parts.tm_hour)), fields[4].contains(Int(parts.tm_mon) + 1)
        else { return false }
        let isLastDay = hasLastDay && civil(local + 86_400).tm_mday == 1
        let (byMonth, byWeek) = (
            fields[3].contains(Int(parts.tm_mday)) || isLastDay, fields[5].contains(Int(parts.tm_wday))
        )
        return words[3].hasPrefix("*") || words[5].hasPrefix("*") ? byMonth && byWeek : byMonth || byWeek
    }

    /// An equivalent expression of six fields with names, steps and ranges written out.
    var writtenOut: String {
        words.indices.map { index in
            // A leading star has a special meaning in the fields of days; the values after it repeat it.
            var parts = words[index].hasPrefix("*") ? [String(words[index].split(separator: ",")[0])] : []
            if parts != ["*"] {
                parts += runs(of: fields[index].sorted())
            }
            if index == 3, hasLastDay { parts.append("L") }
            return parts.joined(separator: ",")
        }.joined(separator: " ")
    }

    private func runs(of numbers: [Int]) -> [String] {
        var runs: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = runs.last, last.upperBound == number - 1 {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    }
}

/// The calendar of the C library.
func civil(_ seconds: Int64) -> tm {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    return parts
}
