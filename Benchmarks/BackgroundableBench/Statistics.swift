extension [Double] {
    /// The middle value; 0 of nothing.
    var median: Double { quantile(0.5) }

    /// The value that `share` of all values do not exceed; 0 of nothing.
    func quantile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * share))]
    }
}
