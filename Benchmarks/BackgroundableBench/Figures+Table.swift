import Foundation

extension Figures {
    /// Returns the figures as a table for people.
    func table() -> String {
        let late = deadlines.lateness
        return """
            \(size.operations) operations a run                plain ns   async ns   ratio (lowest to highest)
            \(row("at most \(Figures.width) at once", narrow))
            \(row("no limit", wide))

            adding a unique name, ns                first thousand \(whole(crowd.first))\
            , after \(size.crowd) \(whole(crowd.late))

            \(size.deadlines) deadlines over \(size.spread) s, late by   p50 \(part(late.median)) ms\
            , p99 \(part(late.quantile(0.99))) ms, most \(part(late.max() ?? 0)) ms
            threads for them                        \(deadlines.threads)
            """
    }

    private func row(_ label: String, _ cost: QueueCost) -> String {
        let ratios = cost.ratios
        return "  " + label.padding(toLength: 38, withPad: " ", startingAt: 0)
            + whole(cost.plain.median) + "       " + whole(cost.async.median) + "       "
            + "\(part(ratios.median)) (\(part(ratios.min() ?? 0)) to \(part(ratios.max() ?? 0)), \(ratios.count) pairs)"
    }

    private func whole(_ value: Double) -> String { String(Int(value.rounded())) }
    private func part(_ value: Double) -> String { String(format: "%.3f", value) }
}
