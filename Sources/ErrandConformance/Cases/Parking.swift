import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let parking = [
        ConformanceCase("a job of an unknown operation waits for a session that knows it, nothing spent") { stage in
            let ignorant = try await stage.session()
            try await stage.push(stage.job("a", operation: "rare.thing"), stage.job("b"))
            try await ignorant.report(.parked, try await ignorant.claimOne())
            #expect(try await stage.status().unknownOperations == ["rare.thing": 1])
            #expect(try await stage.status().ready == 2)
            #expect(try await stage.state("a") == .ready)
            #expect(try await ignorant.claimedIDs() == ["b"])
            #expect(try await ignorant.claimedIDs() == [])

            let expert = try await stage.session(operations: ["rare.thing": OperationDefaults()])
            let claims = try await expert.claim()
            #expect(claims.map(\.id) == ["a"])
            #expect(claims.map(\.attempt) == [1])
            #expect(try await stage.status().unknownOperations == [:])
            #expect(try await stage.news() == [])
            #expect(try await expert.report(.finished, try #require(claims.first)))
        },
        ConformanceCase("a parked job can be cancelled and replaced") { stage in
            let ignorant = try await stage.session()
            try await stage.push(stage.job("a", operation: "rare"), stage.job("old", .drop, operation: "rare"))
            for claim in try await ignorant.claim() { try await ignorant.report(.parked, claim) }
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.receipt(stage.job("new", .replace)).outcome == .replaced)
            #expect(try await stage.status().unknownOperations == [:])
            #expect(try await ignorant.claimedIDs() == ["new"])
            #expect(try await stage.news() == ["cancelled a", "replaced old"])
        },
        ConformanceCase("parked jobs have their turn by priority, before what came later") { stage in
            let ignorant = try await stage.session()
            let parked = try [("low", 0), ("usual", 5), ("high", 9)].map {
                try stage.job($0.0, operation: "rare", priority: $0.1)
            }
            _ = try await stage.broker.push(parked, to: stage.queue)
            for claim in try await ignorant.claim() { try await ignorant.report(.parked, claim) }
            #expect(try await stage.status().unknownOperations == ["rare": 3])
            try await stage.push(
                stage.job("later", operation: "rare"),
                stage.job("nine", operation: "rare", priority: 9),
                stage.job("seven", operation: "rare", priority: 7)
            )
            let expert = try await stage.session(operations: ["rare": OperationDefaults()])
            #expect(try await expert.claimedIDs(1) == ["high"])
            #expect(try await expert.claimedIDs(4) == ["nine", "seven", "usual", "later"])
            #expect(try await stage.status().unknownOperations == ["rare": 1])
            #expect(try await expert.claimedIDs() == ["low"])
            #expect(try await stage.status().unknownOperations == [:])
        },
        ConformanceCase("clearing cancels parked jobs by priority") { stage in
            let ignorant = try await stage.session()
            let parked = try [("two", 2), ("nine", 9), ("usual", 5), ("seven", 7)].map {
                try stage.job($0.0, operation: "rare", priority: $0.1)
            }
            _ = try await stage.broker.push(parked, to: stage.queue)
            for claim in try await ignorant.claim().reversed() { try await ignorant.report(.parked, claim) }
            #expect(try await stage.broker.clear(stage.queue) == 4)
            #expect(
                try await stage.news() == ["cancelled nine", "cancelled seven", "cancelled usual", "cancelled two"]
            )
            #expect(try await stage.status().unknownOperations == [:])
        },
        ConformanceCase("many parked jobs of the lowest priority keep nobody else waiting") { stage in
            let ignorant = try await stage.session()
            let parked = try (0..<40).map { try stage.job("low\($0)", operation: "rare", priority: 0) }
            _ = try await stage.broker.push(parked, to: stage.queue)
            for claim in try await ignorant.claim(40) { try await ignorant.report(.parked, claim) }
            let high = try (0..<40).map { try stage.job("high\($0)", operation: "rare", priority: 9) }
            _ = try await stage.broker.push(high, to: stage.queue)
            let expert = try await stage.session(operations: ["rare": OperationDefaults()])
            let ids = try await expert.claimedIDs(32)
            #expect(ids.indices.filter { ids[$0].hasPrefix("low") } == [15, 31])
        },
        ConformanceCase("who parks a job is not told of it himself") { stage in
            let ignorant = try await stage.session()
            let told = Told(ignorant, stage)
            try await stage.eventually("hints come", every: .milliseconds(50)) {
                while let claim = try await ignorant.claim(1).first { try await ignorant.report(.finished, claim) }
                try await stage.push(stage.job("probe-\(Stage.milliseconds)"))
                return told.times > 0
            }
            while let claim = try await ignorant.claim(1).first { try await ignorant.report(.finished, claim) }
            // Hints come in their order, and this one says its job: all before it have come, too.
            #expect(try await ignorant.exchange(wanted: 1, handed: true).claims.isEmpty)
            try await stage.push(stage.job("fence"))
            try await stage.eventually("the fence is handed over") { told.handed("fence") != nil }
            ignorant.skipCall()
            try await ignorant.report(.finished, try #require(told.handed("fence")))
            try await stage.push(stage.job("a", operation: "rare"), stage.job("b", operation: "rare"))
            let claims = try await ignorant.claim()
            #expect(claims.map(\.id) == ["a", "b"])
            let before = told.times
            let reports = claims.map { Hand.outcome(.parked, $0) }
            #expect(try await ignorant.exchange(reports: reports, wanted: 1).claims.isEmpty)
            // This one shows that there was none before it.
            try await stage.push(stage.job("known"))
            try await stage.eventually("the next hint") { told.times > before }
            #expect(told.times == before + 1)
            #expect(try await ignorant.claimedIDs() == ["known"])
        },
        ConformanceCase("a name with any character that JSON takes as it is keeps the job's operation readable") {
            stage in
            let name = "delete \u{7F} and \u{80}"
            let ignorant = try await stage.session()
            try await stage.push(stage.job("old", .replace, name: name, operation: "rare"))
            try await ignorant.report(.parked, try await ignorant.claimOne())
            try await stage.push(stage.job("new", .replace, name: name))
            #expect(try await ignorant.claimedIDs() == ["new"])
            let event = try #require(try await stage.log.drain().last { $0.kind == "replaced" })
            #expect(event.operation == "rare" && event.name == name)
        },
    ]
}

/// How often a session is told that there may be work.
private final class Told: Sendable {
    private let count = Mutex(0)
    private let claims = Mutex<[Claim]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)

    init(_ hand: Hand, _ stage: Stage) {
        let subscription = stage.broker.hints(for: hand.session, on: [stage.queue]) { [weak self] hint in
            switch hint {
            case .work: self?.count.withLock { $0 += 1 }
            case .claimed(_, _, let claim): self?.claims.withLock { $0.append(claim) }
            case .stop: break
            }
        }
        self.subscription.withLock { $0 = subscription }
    }

    deinit { subscription.withLock { $0 }?.cancel() }

    var times: Int { count.withLock { $0 } }

    /// A job that a hint has brought.
    func handed(_ id: String) -> Claim? { claims.withLock { $0.first { $0.id == id } } }
}
