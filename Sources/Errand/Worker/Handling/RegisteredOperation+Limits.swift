import ErrandText

extension RegisteredOperation {
    /// Throws if the name, queue, timeout or number of retries is invalid for a job, or its type has a problem.
    func checkLimits() throws(BrokerError) {
        do throws(DescriptionError) {
            if let problem { throw problem }
            _ = try OperationDescription(name, queue: queue, timeout: defaults.timeout, retries: defaults.retries)
        } catch {
            let place = error.field.map { "its \"\($0)\" " } ?? ""
            throw BrokerError(
                .refused,
                "operation \"\(name.printable)\" cannot be registered: \(place)\(error.message)"
            )
        }
    }
}
