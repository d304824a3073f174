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
    /// - Throws: `CommandFailure` if the name's template uses a missing argument, `DescriptionError` if the resulting
    ///   name is too long.
    func filling(_ description: OperationDescription) throws -> OperationDescription {
        guard let catalogue else { return description }
        guard let operation = catalogue.operations[description.operation] else {
            warn(about: description.operation)
            return description
        }
        let values = operation.values
        return try description.filling(
            queue: values.queue,
            name: description.name == nil ? rendered(operation.nameTemplate, "name", description) : nil,
            unique: values.uniqueness,
            uniqueUntil: values.uniqueUntil,
            window: values.window,
            atMost: values.atMost,
            timeout: values.timeout,
            expiresIn: values.expiresIn,
            retries: values.retries,
            backoff: values.backoff,
            priority: values.priority,
            group: description.group == nil ? rendered(operation.groupTemplate, "group", description) : nil,
            cost: values.cost
        )
    }

    private func rendered(
        _ template: Template?,
        _ what: String,
        _ description: OperationDescription
    ) throws -> String? {
        do throws(ArgumentError) {
            return try template.map { template throws(ArgumentError) in
                try template.render(description.arguments)
            }
        } catch {
            throw CommandFailure(
                "the \(what) of operation \"\(description.operation)\" cannot be filled in: \(error)",
                ExitStatus.badInput
            )
        }
    }

    private func warn(about operation: String) {
        guard unknown.withLock({ $0.insert(operation).inserted }) else { return }
        StandardError.write("warning: operation \"\(operation)\" is not in \(path); pushed without defaults")
    }
}
