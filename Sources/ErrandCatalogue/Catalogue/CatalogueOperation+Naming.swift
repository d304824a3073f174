package import Errand
import ErrandText

/// The name and the group that an operation gives its jobs.
extension CatalogueOperation {
    /// Returns the name of a job with these arguments; `nil` if the operation names none.
    ///
    /// - Throws: ``ArgumentError`` if an argument is missing, or the name is empty or too long.
    package func jobName(_ arguments: JSONText) throws(ArgumentError) -> String? {
        guard let name = try rendered(nameTemplate, "name", arguments) else { return nil }
        let (bytes, most) = (name.utf8.count, DescriptionLimits.nameBytes)
        let subject = "the job's name (from \"name\" of operation \"\(self.name)\")"
        guard bytes > 0 else { throw ArgumentError(reason: "\(subject) is empty; it must have 1 to \(most) bytes") }
        guard bytes <= most else {
            throw ArgumentError(reason: "\(subject) has \(bytes) bytes; it must have 1 to \(most) bytes")
        }
        return name
    }

    /// Returns the group of a job with these arguments; `nil` if the operation names none.
    ///
    /// - Throws: ``ArgumentError`` if an argument is missing, or the text is no group.
    package func jobGroup(_ arguments: JSONText) throws(ArgumentError) -> String? {
        guard let group = try rendered(groupTemplate, "group", arguments) else { return nil }
        guard GroupName(group) != nil else {
            throw ArgumentError(
                reason: "the job's group \"\(group.shortened(to: 100))\" (from \"group\" of operation \"\(name)\") "
                    + "must be \(GroupName.rule)"
            )
        }
        return group
    }

    private func rendered(
        _ template: Template?,
        _ what: String,
        _ arguments: JSONText
    ) throws(ArgumentError) -> String? {
        guard let template else { return nil }
        do throws(ArgumentError) { return try template.render(arguments) } catch {
            let source = template.source.shortened(to: 100)
            throw ArgumentError(reason: "the job's \(what) \"\(source)\" cannot be filled in: \(error.reason)")
        }
    }
}
