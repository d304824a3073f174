import Errand
import Testing

extension ConformanceCase {
    static let priorities =
        [
            ConformanceCase("the highest priority goes first") { fixture in
                try await fixture.push(
                    fixture.job("five"),
                    fixture.job("zero", priority: 0),
                    fixture.job("nine", priority: 9),
                    fixture.job("seven", priority: 7),
                    fixture.job("ninth", priority: 9)
                )
                let session = try await fixture.session()
                #expect(try await session.claimedIDs(1) == ["nine"])
                #expect(try await session.claimedIDs() == ["ninth", "seven", "five", "zero"])
            }
        ]
        + [1, 7, 48].map { portion in
            ConformanceCase("one of 16 jobs is of the lowest priority, claimed \(portion) at a time") { fixture in
                let high = try (0..<60).map { try fixture.job("high\($0)", priority: 9) }
                let low = try (0..<5).map { try fixture.job("low\($0)", priority: 2) }
                let middle = try (0..<5).map { try fixture.job("middle\($0)") }
                _ = try await fixture.broker.push(high + low + middle, to: fixture.queue)
                let session = try await fixture.session()
                var ids: [String] = []
                while ids.count < 48 { ids += try await session.claimedIDs(min(portion, 48 - ids.count)) }
                let places = ids.indices.filter { ids[$0].hasPrefix("low") }
                #expect(places == [15, 31, 47])
                #expect(!ids.contains { $0.hasPrefix("middle") })
            }
        }
}
