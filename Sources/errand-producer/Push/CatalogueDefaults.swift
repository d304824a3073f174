import Errand
import ErrandCatalogue
import ErrandCommandLine
import Synchronization

/// The values of an operations catalogue for descriptions that leave them out.
final class CatalogueDefaults: Sendable {
    private let path: String
    private let catalogue: Catalogue?
    private let unknown = Mutex<Set<String>>([])

    /// Reads the catalogue, if there is a path.
    init(path: String?) throws(CatalogueError) {
        self.path = path ?? ""
        catalogue = try path.map { path throws(CatalogueError) in try Catalogue(contentsOf: path) }
    }

    /// Returns the description with the catalogue's values for those that it leaves out.
    ///
    /// - Throws: `CommandFailure` if the arguments do not fit the name's or the group's template, `DescriptionError` if
    ///   a value is not valid.
    func filling(_ description: OperationDescription) throws -> OperationDescription {
        guard let catalogue else { return description }
        guard let operation = catalogue.operations[description.operation] else {
            warn(about: description.operation, in: catalogue)
            return description
        }
        let values = operation.values
        let (name, group) = try names(of: description, operation)
        return try description.filling(
            queue: values.queue,
            name: name,
            unique: values.uniqueness,
            uniqueUntil: values.uniqueUntil,
            window: values.window,
            atMost: values.atMost,
            timeout: values.timeout,
            expiresIn: values.expiresIn,
            retries: values.retries,
            backoff: values.backoff,
            priority: values.priority,
            group: group,
            cost: values.cost
        )
    }

    /// Returns the name and the group that a description leaves out.
    private func names(
        of description: OperationDescription,
        _ operation: CatalogueOperation
    ) throws(CommandFailure) -> (name: String?, group: String?) {
        let arguments = description.arguments
        do throws(ArgumentError) {
            let name = try description.name == nil ? operation.jobName(arguments) : nil
            let group = try description.group == nil ? operation.jobGroup(arguments) : nil
            return (name, group)
        } catch {
            throw CommandFailure("\(error)", ExitStatus.badInput)
        }
    }

    private func warn(about operation: String, in catalogue: Catalogue) {
        guard unknown.withLock({ $0.insert(operation).inserted }) else { return }
        let hint = catalogue.nearestOperation(to: operation).map { " (did you mean \"\($0)\"?)" } ?? ""
        StandardError.write(
            "warning: \(path) has no operation \"\(operation)\"\(hint); its jobs get no name, queue or timeout "
                + "from there"
        )
    }
}
