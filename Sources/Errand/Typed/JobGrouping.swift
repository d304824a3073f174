/// How a job's group is made from its parameters.
///
/// ```swift
/// static let jobDefaults = JobDefaults(queue: "invoices", group: .field("tenant"))
/// ```
public struct JobGrouping: Sendable, Equatable {
    private let fields: [String]

    /// Jobs with the same value of a field, a text or a whole number, are one group.
    public static func field(_ name: String) -> JobGrouping { JobGrouping(fields: [name]) }

    /// Groups of two levels: the value of the first field, and below it that of the second.
    public static func fields(_ first: String, _ second: String) -> JobGrouping {
        JobGrouping(fields: [first, second])
    }

    /// Returns the group of a job with these arguments.
    ///
    /// - Throws: ``DescriptionError`` if a field is missing, or is neither a text nor a whole number.
    func group(of arguments: JSONText) throws(DescriptionError) -> String {
        let members = arguments.members
        var parts: [String] = []
        for field in fields {
            guard let value = members.last(where: { $0.key == field })?.value, let part = Self.part(value) else {
                throw DescriptionError(
                    .invalidValue,
                    field: DescriptionKey.group.rawValue,
                    "is made from the field \"\(field)\" of the arguments, which must be there, as text or a whole number"
                )
            }
            parts.append(part)
        }
        return parts.joined(separator: "/")
    }

    private static func part(_ value: JSONText) -> String? {
        if let text = try? value.decode(String.self) { return text }
        return (try? value.decode(Int64.self)).map { String($0) }
    }
}
