import ArgumentParser
import Errand
import ErrandOperator

/// A rate as an option: `100/1s`, `5/1m`.
struct RateArgument: ExpressibleByArgument, Sendable {
    let rate: FlowRate

    init?(argument: String) {
        guard let rate = FlowRate(text: argument) else { return nil }
        self.rate = rate
    }
}

/// What happens in an ordered group when a job is dead, as an option.
struct FlowOrderArgument: ExpressibleByArgument, Sendable {
    let order: FlowOrder

    init?(argument: String) {
        guard let order = FlowOrder(rawValue: argument) else { return nil }
        self.order = order
    }
}

/// What groups are charged for their share.
enum FlowCharge: String, ExpressibleByArgument, CaseIterable {
    case cost, time
}
