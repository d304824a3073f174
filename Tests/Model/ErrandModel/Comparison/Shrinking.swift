extension History {
    /// A shorter history that still goes wrong: steps are left out for as long as that is so.
    package func shrunk(whileFaulty isFaulty: (History) async throws -> Bool) async rethrows -> History {
        var shortest = self
        var portion = max(steps.count / 2, 1)
        while true {
            var start = 0
            var isShorter = false
            while start < shortest.steps.count {
                var candidate = shortest
                candidate.steps.removeSubrange(start..<min(start + portion, candidate.steps.count))
                if try await isFaulty(candidate) {
                    shortest = candidate
                    isShorter = true
                } else {
                    start += portion
                }
            }
            if portion == 1, !isShorter { return shortest }
            portion = max(portion / 2, 1)
        }
    }

    /// The steps, one a line, times as differences.
    package var listing: String {
        var last = steps.first?.time ?? 0
        return steps.enumerated().map { index, step in
            defer { last = step.time }
            return "\(index): +\(step.time - last) ms \(step.command)"
        }.joined(separator: "\n")
    }
}
