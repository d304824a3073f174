package import Errand

extension Array where Element: Sendable {
    /// Runs an asynchronous call for each element and returns the results in the elements' order.
    ///
    /// Sequential calls would cost a round trip each. All at once, a broker with thousands of queues would serve
    /// nothing else for a while. So a limited number runs at the same time.
    ///
    /// - Parameters:
    ///   - most: The largest number of calls at the same time.
    ///   - ask: The call for one element.
    /// - Throws: The first error; the other calls are cancelled.
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
