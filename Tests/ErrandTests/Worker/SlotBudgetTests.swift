import Errand
import TestSupport
import Testing

/// The distribution of a worker's slots among its queues.
@Suite("How queues share slots")
struct SlotBudgetTests {
    @Test("the shares equal those of dealing slots one by one to the queue furthest behind")
    func dealsAsOneByOne() {
        var random = SeededRandom(for: "SlotBudgetTests")
        for _ in 0..<300 {
            // Eighths and powers of two add up without rounding, so that both algorithms agree.
            let weights = (0..<Int.random(in: 2...12, using: &random)).map { _ in
                1 << Int.random(in: 0...3, using: &random)
            }
            var dealer = Dealer(weights)
            let budget = SlotBudget(concurrency: 40, weights: weights)
            for _ in 0..<20 {
                let index = weights.indices.randomElement(using: &random) ?? 0
                let (wanted, _) = budget.grant(to: index)
                let expected = dealer.grant(40, to: index)
                #expect(wanted == expected, "queue \(index) of \(weights), seed \(random.seed)")
                let got = Int.random(in: 0...wanted, using: &random)
                _ = budget.settle(index, wanted: wanted, got: got, looked: true)
                _ = budget.open(got, by: index)
                dealer.settle(index, wanted: wanted, got: got)
            }
        }
    }

    @Test("two queues with weights 3 and 1 that both have work get slots three to one")
    func weighs() {
        let budget = SlotBudget(concurrency: 8, weights: [3, 1])
        #expect(budget.grant(to: 0).wanted == 6)
        #expect(budget.grant(to: 1).wanted == 2)
    }

    @Test("each of many queues with work claims its part of the jobs ahead with one call, by its weight")
    func leads() {
        let budget = SlotBudget(concurrency: 8, weights: Array(repeating: 1, count: 98) + [2])
        budget.note(.microseconds(10))
        for index in 0..<98 {
            let wanted = budget.grant(to: index).wanted
            #expect((39...40).contains(wanted))
            _ = budget.settle(index, wanted: wanted, got: wanted, looked: true)
        }
        #expect((78...80).contains(budget.grant(to: 98).wanted))
        _ = budget.open(39, by: 0)
        #expect((38...40).contains(budget.grant(to: 0).wanted))
        // It may not lead by more before the others have claimed again, too.
        _ = budget.open(80, by: 1)
        #expect(budget.grant(to: 0).wanted == 0)
        #expect((38...40).contains(budget.grant(to: 1).wanted))
    }

    @Test("one of several queues that still has jobs to run asks for many or none, and is not woken for few")
    func asksForMany() {
        let budget = SlotBudget(concurrency: 4, weights: [1, 1])
        budget.note(.microseconds(100))
        for index in 0..<2 {
            let wanted = budget.grant(to: index).wanted
            _ = budget.settle(index, wanted: wanted, got: wanted, looked: true)
        }
        _ = budget.open(10, by: 0)
        #expect(budget.grant(to: 0, isBusy: true) == (0, 0))
        #expect(budget.open(1, by: 1).isEmpty)
        #expect(budget.grant(to: 0, atMost: 5, isBusy: true).wanted == 5, "a large reply was lost before")
        #expect(budget.grant(to: 0).wanted > 0)
        let alone = SlotBudget(concurrency: 4, weights: [1])
        alone.note(.microseconds(100))
        _ = alone.settle(0, wanted: 0, got: 800, looked: true)
        #expect(alone.grant(to: 0, isBusy: true).wanted == 4)
    }

    @Test("a queue that has jobs to run and was refused a few is woken as soon as a slot is free")
    func wakesForFreeSlot() {
        let budget = SlotBudget(concurrency: 4, weights: [1, 1])
        budget.note(.microseconds(100))
        _ = budget.settle(0, wanted: 0, got: 400, looked: true)
        _ = budget.settle(1, wanted: 0, got: 394, looked: true)
        #expect(budget.grant(to: 0, isBusy: true) == (0, 0))
        #expect(budget.open(790, by: 1).isEmpty, "four jobs are left for four slots")
        #expect(budget.open(1, by: 1) == [0])
        #expect(budget.open(1, by: 1).isEmpty, "it is woken once")
    }
}

/// The rule itself, without arithmetic.
private struct Dealer {
    let weights: [Int]
    var passed: [Double]
    var contends: [Bool]

    init(_ weights: [Int]) {
        self.weights = weights
        passed = weights.map { _ in 0 }
        contends = weights.map { _ in true }
    }

    mutating func grant(_ free: Int, to index: Int) -> Int {
        if !contends[index] {
            let behind = weights.indices.filter { contends[$0] }.map { passed[$0] }.min() ?? passed[index]
            passed[index] = max(passed[index], behind)
            contends[index] = true
        }
        var now = passed
        var mine = 0
        for _ in 0..<free {
            guard let next = weights.indices.filter({ contends[$0] }).min(by: { now[$0] < now[$1] }) else { break }
            if next == index { mine += 1 }
            now[next] += 1 / Double(weights[next])
        }
        passed[index] += Double(mine) / Double(weights[index])
        return mine
    }

    mutating func settle(_ index: Int, wanted: Int, got: Int) {
        passed[index] -= Double(wanted - got) / Double(weights[index])
        contends[index] = got > 0
    }
}
