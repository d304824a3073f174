import Errand
import Testing

extension ConformanceCase {
    static let priorities =
        [
            ConformanceCase("the highest priority goes first") { stage in
                try await stage.push(
                    stage.job("five"),
                    stage.job("zero", priority: 0),
                    stage.job("nine", priority: 9),
                    stage.job("seven", priority: 7),
                    stage.job("ninth", priority: 9)
                )
                let hand = try await stage.session()
                #expect(try await hand.claimedIDs(1) == ["nine"])
                #expect(try await hand.claimedIDs() == ["ninth", "seven", "five", "zero"])
            }
        ]
        + [1, 7, 48].map { portion in
            ConformanceCase("one of 16 jobs is of the lowest priority, claimed \(portion) at a time") { stage in
                let high = try (0..<60).map { try stage.job("high\($0)", priority: 9) }
                let low = try (0..<5).map { try stage.job("low\($0)", priority: 2) }
                let middle = try (0..<5).map { try stage.job("middle\($0)") }
                _ = try await stage.broker.push(high + low + middle, to: stage.queue)
                let hand = try await stage.session()
                var ids: [String] = []
                while ids.count < 48 { ids += try await hand.claimedIDs(min(portion, 48 - ids.count)) }
                let places = ids.indices.filter { ids[$0].hasPrefix("low") }
                #expect(places == [15, 31, 47])
                #expect(!ids.contains { $0.hasPrefix("middle") })
            }
        }
}
