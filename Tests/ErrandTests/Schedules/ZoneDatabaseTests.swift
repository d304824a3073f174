import Foundation
import Testing

@testable import Errand

/// Every zone of the system's time zone database.
@Suite("Time zones")
struct ZoneDatabaseTests {
    private static let root = "/usr/share/zoneinfo"

    /// The names of all files with a zone, except those below `right/`.
    private static let names: [String] = {
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            guard !path.hasPrefix("right/"), let file = FileHandle(forReadingAtPath: "\(root)/\(path)") else {
                return false
            }
            defer { try? file.close() }
            return (try? file.read(upToCount: 4)) == Data("TZif".utf8)
        }
    }()

    /// Times from 1970 to 2286: random ones, and those around each change in the file.
    private static func times(of zone: ZoneFile, _ numbers: inout SystemRandomNumberGenerator) -> [Int64] {
        let chosen = (0..<200).map { _ in Int64.random(in: 0...9_999_999_999, using: &numbers) }
        return chosen + zone.changes.filter { $0 > 0 }.flatMap { [$0 - 1, $0] }
    }

    /// The offsets of the C library in seconds east of UTC; `date` uses the same database.
    private static func offsets(of zone: String, at times: [Int64]) throws -> [Int64] {
        let (date, input, output) = (Process(), Pipe(), Pipe())
        date.executableURL = URL(fileURLWithPath: "/bin/date")
        date.arguments = ["-f", "-", "+%::z"]
        date.environment = ["TZ": zone, "LC_ALL": "C"]
        (date.standardInput, date.standardOutput) = (input, output)
        try date.run()
        let lines = times.map { "@\($0)\n" }.joined()
        DispatchQueue.global().async {
            try? input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
            try? input.fileHandleForWriting.close()
        }
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        date.waitUntilExit()
        return text.split(separator: "\n").map { line in
            let parts = line.dropFirst().split(separator: ":").compactMap { Int64($0) }
            return parts.reduce(0) { $0 * 60 + $1 } * (line.hasPrefix("-") ? -1 : 1)
        }
    }

    #if os(Linux)
        @Test("each name is taken, and its clocks show what the C library's do")
        func everyName() throws {
            #expect(Self.names.count > 400, "the database is hardly there")
            var numbers = SystemRandomNumberGenerator()
            for name in Self.names {
                let zone = try ZoneDatabase.system.zone(name)
                let times = Self.times(of: zone, &numbers)
                let expected = try Self.offsets(of: name, at: times)
                try #require(expected.count == times.count)
                for (time, offset) in zip(times, expected) where zone.offset(at: time) != offset {
                    Issue.record("\(name) at \(time): \(zone.offset(at: time)), not \(offset)")
                }
                #expect(try ScheduleTiming.cron("0 0 * * *", timeZone: name).timeZone == name)
            }
        }
    #endif

    @Test("an invalid zone name is rejected before a file is opened")
    func names() {
        let wrong = [
            "", "/", ".", "..", "../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "Europe/./Berlin",
            "/Europe/Berlin",
            "Europe/Berlin/", "Europe//Berlin", "Europe\\Berlin", "Europe/Berlin\0", "Europe/Berlin\n",
            " Europe/Berlin",
            ".hidden", "Europe/.Berlin", "Zürich", "~/zone", ":Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", "%s", "*",
            String(repeating: "a", count: 65),
        ]
        for name in wrong {
            let error = #expect(throws: ScheduleError.self) { try ZoneDatabase.system.zone(name) }
            #expect(error?.code == .invalid && error?.field == "time_zone", "\(name)")
        }
    }

    /// A test database with a file of each kind.
    private func withDatabase(_ body: (ZoneDatabase, URL) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root.appending(path: "Area"), withIntermediateDirectories: true)
        try body(ZoneDatabase(environment: ["TZDIR": root.path]), root)
    }

    @Test("a file that is not a zone's is not in the database")
    func otherFiles() throws {
        try withDatabase { database, root in
            try Data("nothing of the kind".utf8).write(to: root.appending(path: "text"))
            try Data().write(to: root.appending(path: "empty"))
            #expect(mkfifo(root.appending(path: "pipe").path, 0o600) == 0)
            let large = root.appending(path: "large")
            try (Self.berlin + Data(count: 1 << 20)).write(to: large)
            for name in ["text", "empty", "pipe", "large", "Area", "missing", "Area/missing"] {
                let error = #expect(throws: ScheduleError.self) { try database.zone(name) }
                #expect(error?.code == .unknownTimeZone, "\(name)")
                #expect(error?.message.contains(root.path) == true, "says where it looked")
            }
        }
    }

    @Test("links within the database are other names of a zone")
    func links() throws {
        try withDatabase { database, root in
            try Self.berlin.write(to: root.appending(path: "Area/Place"))
            let link = root.appending(path: "Old").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "Area/Place")
            #expect(try database.zone("Old") == database.zone("Area/Place"))
        }
    }

    @Test("without a zone database the error says so, and UTC still works")
    func noDatabase() throws {
        let database = ZoneDatabase(environment: ["TZDIR": "/nowhere"])
        let error = #expect(throws: ScheduleError.self) { try ScheduleZone("Europe/Berlin", in: database) }
        #expect(error?.code == .unknownTimeZone)
        #expect(error?.message.contains("no time zone database (/nowhere)") == true)
        #expect(error?.message.contains("tzdata") == true)
        #expect(try ScheduleZone("UTC", in: database).offset(at: 0) == 0)
        #expect(try ScheduleZone("Etc/UTC", in: database).offset(at: 0) == 0)
    }

    @Test("an empty TZDIR counts as none")
    func directories() {
        #expect(ZoneDatabase(environment: ["TZDIR": ""]).directories.first == "/usr/share/zoneinfo")
        #expect(ZoneDatabase(environment: ["TZDIR": "/opt/zones"]).directories == ["/opt/zones"])
    }

    private static var berlin: Data { ZoneBytes(changes: [(0, 1)], offsets: [3600, 7200], rule: "CET-1").data }

    @Test("the version 2 part of a file and its footer are used")
    func parts() throws {
        let zone = try ZoneFile(
            Array(
                ZoneBytes(
                    changes: [(-5_000_000_000, 0), (1000, 1)],
                    offsets: [-3600, 7200],
                    rule: "EET-2EEST,M3.5.0/3,M10.5.0/4"
                ).data
            )
        )
        #expect(zone.offset(at: -6_000_000_000) == -3600)
        #expect(zone.offset(at: 999) == -3600)
        #expect(zone.offset(at: 1000) == 7200)
        // July 2200.
        #expect(zone.offset(at: 7_274_448_000) == 10_800)
        let endless = try ZoneFile(Array(ZoneBytes(changes: [(1000, 1)], offsets: [0, 60], rule: "").data))
        #expect(endless.offset(at: 9_000_000_000) == 60)
        let old = try ZoneFile(Array(ZoneBytes(version: 0, changes: [(1000, 1)], offsets: [0, 60], rule: nil).data))
        #expect(old.offset(at: 999) == 0 && old.offset(at: 1000) == 60)
    }

    @Test("a damaged file is rejected, wherever the damage is")
    func damaged() throws {
        let whole = Array(
            ZoneBytes(changes: [(0, 1), (9, 0)], offsets: [3600, 7200], rule: "CET-1CEST,M3.5.0,M10.5.0/3").data
        )
        #expect(throws: Never.self) { try ZoneFile(whole) }
        for count in 0..<whole.count {
            #expect(throws: ZoneFile.Fault.self) { try ZoneFile(Array(whole.prefix(count))) }
        }
        var numbers = SystemRandomNumberGenerator()
        for index in whole.indices {
            for _ in 0..<20 {
                var bytes = whole
                bytes[index] = .random(in: .min ... .max, using: &numbers)
                guard let zone = try? ZoneFile(bytes) else { continue }
                for time: Int64 in [-1 << 61, -1, 0, 9_999_999_999, 1 << 61] {
                    #expect(abs(zone.offset(at: time)) < 86_400)
                }
            }
        }
        let wrong: [ZoneBytes] = [
            ZoneBytes(changes: [(0, 2)], offsets: [0, 60], rule: ""), ZoneBytes(changes: [], offsets: [], rule: ""),
            ZoneBytes(changes: [(9, 0), (9, 1)], offsets: [0, 60], rule: ""),
            ZoneBytes(changes: [], offsets: [86_400], rule: ""), ZoneBytes(changes: [], offsets: [0], rule: "nonsense"),
        ]
        for bytes in wrong { #expect(throws: ZoneFile.Fault.damaged) { try ZoneFile(Array(bytes.data)) } }
    }

    @Test("a file with leap seconds is rejected")
    func leapSeconds() {
        var bytes = ZoneBytes(changes: [], offsets: [0], rule: "")
        bytes.leapSeconds = 1
        #expect(throws: ZoneFile.Fault.countsLeapSeconds) { try ZoneFile(Array(bytes.data)) }
    }

    @Test(
        "rules of the last line",
        arguments: [
            // In 2026: the offset in January, and when it changes.
            ("UTC0", 0, []), ("<-03>3", -10_800, []), ("<+0545>-5:45", 20_700, []),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3600, ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
            ("EST5EDT,M3.2.0,M11.1.0", -18_000, ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"]),
            // In the south the year begins and ends in summer; in Dublin, winter is the exception.
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 39_600, ["2026-04-04T16:00:00Z", "2026-10-03T16:00:00Z"]),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
            ("EET-2EEST,M3.4.4/50,M10.4.4/50", 7200, ["2026-03-28T00:00:00Z", "2026-10-23T23:00:00Z"]),
            // Days of the year, with and without 29 February, and daylight saving time all year.
            ("AAA0BBB,J60/0,J300/0", 0, ["2026-03-01T00:00:00Z", "2026-10-26T23:00:00Z"]),
            ("AAA0BBB,59/0,299/0", 0, ["2026-03-01T00:00:00Z", "2026-10-26T23:00:00Z"]),
            ("EST5EDT,0/0,J365/25", -14_400, []),
        ] as [(String, Int64, [String])]
    )
    func rules(_ text: String, _ january: Int64, _ changes: [String]) throws {
        let rule = try #require(ZoneRuleParser.parse(Array(text.utf8)[...]))
        let year = try ms("2026-01-01T12:00:00Z") / 1000
        #expect(rule.offset(at: year) == january)
        let found = stride(from: year, to: year + 364 * 86_400, by: 3600).filter {
            rule.offset(at: $0 - 1) != rule.offset(at: $0)
        }
        #expect(found.map { utc($0 * 1000) } == changes)
    }

    @Test("29 February counts in one kind of day and not in the other")
    func leapYears() throws {
        for (text, day) in [("AAA0BBB,J60/0,J300/0", "2028-03-01"), ("AAA0BBB,59/0,299/0", "2028-02-29")] {
            let rule = try #require(ZoneRuleParser.parse(Array(text.utf8)[...]))
            let start = try ms("\(day)T00:00:00Z") / 1000
            #expect(rule.offset(at: start - 1) == 0 && rule.offset(at: start) == 3600, "\(text)")
        }
    }

    @Test(
        "what is no rule",
        arguments: [
            "CET", "1", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
            "CET-1CEST,M3.6.0,M10.5.0",
            "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "C1",
            "<+1>",
            "<+01-1", "CET-1 ", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1:60", "CET-99999999999999999999", "CET--1", "ÄÖÜ1",
        ]
    )
    func wrongRules(_ text: String) {
        #expect(ZoneRuleParser.parse(Array(text.utf8)[...]) == nil)
    }
}

/// The bytes of a zone's file.
private struct ZoneBytes {
    var version: UInt8 = UInt8(ascii: "2")
    var changes: [(time: Int64, type: UInt8)]
    var offsets: [Int32]
    var rule: String?
    var leapSeconds = 0

    var data: Data {
        guard version != 0 else { return block(timeSize: 4) }
        // The first part is for old readers and is ignored.
        let old = ZoneBytes(version: version, changes: [(5, 0)], offsets: [-60], rule: nil)
        return old.block(timeSize: 4) + block(timeSize: 8) + Data("\n\(rule ?? "")\n".utf8)
    }

    private func block(timeSize: Int) -> Data {
        var bytes = Data("TZif".utf8) + [version] + Data(count: 15)
        for count in [0, 0, leapSeconds, changes.count, offsets.count, 4] { bytes += Self.bytes(Int64(count), 4) }
        for change in changes { bytes += Self.bytes(change.time, timeSize) }
        bytes += changes.map(\.type)
        for offset in offsets { bytes += Self.bytes(Int64(offset), 4) + [0, 0] }
        return bytes + Data("ABC\0".utf8) + Data(count: leapSeconds * (timeSize + 4))
    }

    private static func bytes(_ number: Int64, _ size: Int) -> Data {
        Data((0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }
}
