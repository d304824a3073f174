import Foundation
import Testing

@testable import Errand

/// Cron against a second, naive way to find the ticks: walk over all seconds or minutes of local time, look at each, and
/// find its moments in a table of the zone's changes. It shares no code with what it checks.
@Suite("Cron: against brute force")
struct CronBruteForceTests {
    /// A zone's offsets, as Foundation has them for every quarter of an hour.
    struct Clocks {
        /// The times in seconds from which an offset applies, ascending.
        let pieces: [(from: Int64, offset: Int64)]

        init(_ zone: String, _ range: ClosedRange<Int64>) throws {
            let zone = try #require(TimeZone(identifier: zone))
            var pieces: [(Int64, Int64)] = []
            func offset(_ time: Int64) -> Int64 {
                Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))))
            }
            for time in stride(from: range.lowerBound, through: range.upperBound, by: 900)
            where pieces.last?.1 != offset(time) {
                // Some change at a minute past the hour.
                let first =
                    pieces.isEmpty ? time : (0...15).map { time - 900 + $0 * 60 }.first { offset($0) == offset(time) }
                pieces.append((first ?? time, offset(time)))
            }
            self.pieces = pieces
        }

        /// All moments at which the clocks show this, ascending.
        func moments(of local: Int64) -> [Int64] {
            pieces.indices.compactMap { index in
                let moment = local - pieces[index].offset
                let end = index + 1 < pieces.count ? pieces[index + 1].from : .max
                return moment >= pieces[index].from && moment < end ? moment : nil
            }
        }

        /// When the clocks were set forward past this.
        func jump(over local: Int64) -> Int64? {
            pieces.indices.dropFirst().first { index in
                let change = pieces[index].from
                return local >= change + pieces[index - 1].offset && local < change + pieces[index].offset
            }.map { pieces[$0].from }
        }
    }

    /// A plain parser of expressions.
    struct Plain {
        let fields: [Set<Int>]
        let starred: [Bool]
        let hasLastDay: Bool

        init(_ text: String) {
            let words = text.split(separator: " ").map(String.init)
            let limits = [(0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6)]
            let six = words.count == 6 ? words : ["0"] + words
            starred = six.map { $0.hasPrefix("*") }
            hasLastDay = six[3].contains("L")
            fields = zip(six, limits).map { word, limit in
                var numbers: Set<Int> = []
                for part in word.split(separator: ",") where part != "L" {
                    let halves = part.split(separator: "/")
                    let ends =
                        halves[0] == "*" ? [limit.0, limit.1] : halves[0].split(separator: "-").compactMap { Int($0) }
                    let step = halves.count == 2 ? Int(halves[1]) ?? 1 : 1
                    for number in ends[0]...ends[ends.count - 1] where (number - ends[0]) % step == 0 {
                        numbers.insert(number)
                    }
                }
                return numbers
            }
        }

        var isOfEveryHour: Bool { fields[2].count == 24 }

        func means(second: Int, minute: Int, hour: Int, day: Int, month: Int, weekday: Int, last: Bool) -> Bool {
            guard fields[0].contains(second), fields[1].contains(minute), fields[2].contains(hour),
                fields[4].contains(month)
            else { return false }
            let (byMonth, byWeek) = (fields[3].contains(day) || hasLastDay && last, fields[5].contains(weekday))
            return starred[3] || starred[5] ? byMonth && byWeek : byMonth || byWeek
        }
    }

    static func expected(_ text: String, _ clocks: Clocks, _ range: ClosedRange<Int64>, step: Int64) -> [Int64] {
        let plain = Plain(text)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var found: Set<Int64> = []
        let days = (range.lowerBound / 86_400 - 2)...(range.upperBound / 86_400 + 2)
        for day in days {
            let date = Date(timeIntervalSince1970: Double(day * 86_400))
            let parts = calendar.dateComponents([.day, .month, .weekday], from: date)
            let tomorrow = calendar.component(.day, from: date.addingTimeInterval(86_400))
            for second in stride(from: 0, to: 86_400, by: Int(step)) {
                let isExpected = plain.means(
                    second: second % 60,
                    minute: second / 60 % 60,
                    hour: second / 3600,
                    day: parts.day ?? 0,
                    month: parts.month ?? 0,
                    weekday: (parts.weekday ?? 0) - 1,
                    last: tomorrow == 1
                )
                guard isExpected else { continue }
                let local = day * 86_400 + Int64(second)
                let moments = clocks.moments(of: local)
                if plain.isOfEveryHour {
                    found.formUnion(moments)
                } else if let moment = moments.first ?? clocks.jump(over: local) {
                    found.insert(moment)
                }
            }
        }
        return found.filter { range.contains($0) }.sorted()
    }

    static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo",
        "Asia/Kolkata",
        "Africa/Casablanca", "America/St_Johns",
    ]

    @Test("minute by minute over two years", arguments: zones)
    func minutes(_ zone: String) throws {
        // 2011 and 2012 have Samoa's lost day and a leap day; both kinds of changes are in each year.
        let range = try ms("2011-01-01T00:00:00Z") / 1000...ms("2012-12-31T00:00:00Z") / 1000
        let clocks = try Clocks(zone, range.lowerBound - 216_000...range.upperBound + 216_000)
        for text in [
            "30 2 * * *", "*/20 1-3 * * *", "15 * * * 0", "45 23,0 L * *", "7 */5 */3 * 1-4", "0 0 29 2 5",
            "30 * 30 12 *",
        ] {
            let timing = try ScheduleTiming.cron(text, timeZone: zone)
            let expected = Self.expected(text, clocks, range, step: 60).map { $0 * 1000 }
            let (start, end) = (range.lowerBound * 1000 - 1, range.upperBound * 1000)
            compare(timing.ticks(after: start, upTo: end), expected, "\(text) in \(zone)")
            compare(timing.ticksBackwards(after: start, upTo: end), expected, "\(text) in \(zone), backwards")
        }
    }

    @Test("second by second around changes of the clocks", arguments: zones)
    func seconds(_ zone: String) throws {
        let year = try ms("2011-01-01T00:00:00Z") / 1000...ms("2012-12-31T00:00:00Z") / 1000
        let clocks = try Clocks(zone, year)
        for change in clocks.pieces.dropFirst().prefix(3).map(\.from) {
            let range = change - 50_000...change + 50_000
            for text in ["*/7 */13 * * * *", "*/11 59,0,30 0-4,22,23 * * *", "30 0 2 * * *"] {
                let timing = try ScheduleTiming.cron(text, timeZone: zone)
                let expected = Self.expected(text, clocks, range, step: 1).map { $0 * 1000 }
                let (start, end) = (range.lowerBound * 1000 - 1, range.upperBound * 1000)
                compare(timing.ticks(after: start, upTo: end), expected, "\(text) in \(zone) at \(utc(change * 1000))")
                compare(timing.ticksBackwards(after: start, upTo: end), expected, "\(text) in \(zone), backwards")
            }
        }
    }

    /// Describes where two lists differ, without printing both.
    private func compare(_ ticks: [Int64], _ expected: [Int64], _ what: String) {
        guard ticks != expected else { return }
        let place = zip(ticks, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(ticks.count, expected.count)
        let (found, wanted) = (ticks.dropFirst(place).prefix(3).map(utc), expected.dropFirst(place).prefix(3).map(utc))
        Issue.record("\(what): found \(found), expected \(wanted); \(ticks.count) and \(expected.count) in all")
    }

    @Test("from any second, next and latest agree")
    func anySecond() throws {
        let timing = try ScheduleTiming.cron("*/10 2 * * *", timeZone: "Europe/Berlin")
        for (start, end) in [
            ("2026-10-24T23:50:00Z", "2026-10-25T02:10:00Z"), ("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),
        ] {
            let (first, last) = (try ms(start), try ms(end))
            let ticks = timing.ticks(after: first - 86_400_000, upTo: last + 2 * 86_400_000)
            for time in stride(from: first, through: last, by: 7000) {
                #expect(timing.next(after: time) == ticks.first { $0 > time })
                #expect(timing.latest(atOrBefore: time) == ticks.last { $0 <= time })
            }
        }
    }
}

@Suite("Cron: random input")
struct CronFuzzTests {
    private static let pieces = [
        "*", "*/", "0", "1", "2", "5", "7", "9", "23", "24", "29", "30", "31", "59", "60", "99", "-", ",", "/", "L",
        "mon", "sun", "feb",
        "dec", " ", " ", " ", " ", "@daily", "\t", "é", "\0", "?", "#", "W",
    ]

    @Test("random texts are parsed or rejected, and parsed expressions tick")
    func randomTexts() throws {
        var generator = SystemRandomNumberGenerator()
        var read = 0
        let zones = try ["UTC", "Europe/Berlin", "Australia/Lord_Howe"].map { try ScheduleZone($0) }
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                Self.pieces.randomElement(using: &generator) ?? ""
            }.joined()
            guard let cron = try? ZonedCron(text, try #require(zones.randomElement(using: &generator))) else {
                continue
            }
            read += 1
            check(ScheduleTiming(kind: .cron(cron)), &generator)
        }
        #expect(read > 10, "enough of them were expressions")
    }

    @Test("random expressions tick in order, both ways alike")
    func randomExpressions() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let six = [0...59, 0...59, 0...23, 1...28, 1...12, 0...7].map { Self.field($0, &generator) }
            let text = six.dropFirst(Bool.random(using: &generator) ? 1 : 0).joined(separator: " ")
            let zone = CronBruteForceTests.zones.randomElement(using: &generator) ?? "UTC"
            check(try .cron(text, timeZone: zone), &generator)
        }
    }

    private static func field(_ range: ClosedRange<Int>, _ generator: inout SystemRandomNumberGenerator) -> String {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0, 1: return "*"
        case 2: return "*/\(Int.random(in: 1...range.upperBound, using: &generator))"
        case 3: return "\(Int.random(in: range, using: &generator))"
        default:
            let first = Int.random(in: range, using: &generator)
            return "\(first)-\(Int.random(in: first...range.upperBound, using: &generator))"
        }
    }

    private func check(_ timing: ScheduleTiming, _ generator: inout SystemRandomNumberGenerator) {
        let start = Int64.random(in: 0...5_000_000_000_000, using: &generator)
        var last = start
        for tick in timing.ticks(after: start, 5) {
            #expect(tick > last, "\(timing)")
            #expect(timing.latest(atOrBefore: tick) == tick, "\(timing)")
            #expect(timing.latest(atOrBefore: tick - 1).map { $0 <= start || $0 == last } ?? true, "\(timing) \(tick)")
            last = tick
        }
        for wild in [Int64.min, -1, 0, 9_999_999_999_999, .max] {
            _ = timing.next(after: wild)
            _ = timing.latest(atOrBefore: wild)
        }
    }

    @Test("the next tick is found fast, even for expressions designed to be slow")
    func speed() throws {
        for text in ["* * * * *", "0 0 29 2 *", "59 59 23 31 12 *", "0 0 */31 2 mon", "30 2 * * *"] {
            let timing = try ScheduleTiming.cron(text, timeZone: "Europe/Berlin")
            let begin = ContinuousClock.now
            for index in 0..<100 { _ = timing.next(after: Int64(index) * 40_000_000_000) }
            let each = (ContinuousClock.now - begin) / 100
            #expect(each < .milliseconds(20), "\(text): \(each)")
        }
    }
}
