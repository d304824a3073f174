import ErrandText

extension RegisteredOperation {
    /// Throws if the name, queue, timeout or number of retries is invalid for a job.
    func checkLimits() throws(BrokerError) {
        do throws(DescriptionError) {
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
