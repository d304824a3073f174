package import Errand

extension Array where Element: Sendable {
    /// Asks for something of each element, and answers in their order.
    ///
    /// One after the other, each would take a round trip; all at once, a broker with thousands of queues would have
    /// nothing else to do for a while. So it is some at once.
    ///
    /// - Parameters:
    ///   - most: How many are asked for at once, at the most.
    ///   - ask: What is asked of an element.
    /// - Throws: What the first that fails throws; the others are given up then.
    package func concurrently<Value: Sendable>(
        atMost most: Int = 16,
        _ ask: @escaping @Sendable (Element) async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> [Value] {
        do {
            return try await withThrowingTaskGroup(of: (Int, Value).self) { group in
                var values: [Int: Value] = [:]
                for (index, element) in enumerated() {
                    if index >= most, let (place, value) = try await group.next() { values[place] = value }
                    group.addTask { (index, try await ask(element)) }
                }
                for try await (place, value) in group { values[place] = value }
                return indices.compactMap { values[$0] }
            }
        } catch let error as BrokerError {
            throw error
        } catch {
            throw BrokerError(.closed, "\(error)")
        }
    }
}
