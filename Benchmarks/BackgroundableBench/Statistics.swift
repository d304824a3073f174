extension [Double] {
    /// The median, or 0 without values.
    var median: Double { quantile(0.5) }

    /// The value that the given share of all values do not exceed, or 0 without values.
    func quantile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * share))]
    }
}
