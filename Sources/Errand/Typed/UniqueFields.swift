#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Checks the fields that identify a job against the type of its parameters.
///
/// A misspelt field would be `null` in every job's name, so that all of them would count as the same job.
enum UniqueFields {
    /// Returns the fields that the type certainly does not encode.
    ///
    /// The type's coding keys decide. A type that encodes no object, or whose keys may be any text, has no unknown fields.
    static func unknown<Parameters: Decodable>(_ fields: [String], of type: Parameters.Type) -> [String] {
        let probe = KeyProbe()
        // It stops as soon as the keys are known.
        _ = try? Parameters(from: probe)
        guard let isKey = probe.keys.isKey else { return [] }
        return fields.filter { !isKey($0) }
    }

    /// Checks the fields against the arguments of one job.
    ///
    /// - Throws: ``DescriptionError`` that names the unknown fields, or the fields if the arguments have none of them and the
    ///   type does not tell its fields.
    static func check<Parameters: Decodable>(
        _ fields: [String],
        in arguments: JSONText,
        of type: Parameters.Type
    ) throws(DescriptionError) {
        let present = Set(arguments.members.map(\.key))
        let missing = fields.filter { !present.contains($0) }
        // An optional field without a value is missing, too.
        guard !missing.isEmpty else { return }
        let unknown = unknown(missing, of: type)
        guard !unknown.isEmpty || missing.count == fields.count, !fields.isEmpty else { return }
        if unknown.isEmpty, knowsFields(of: type) { return }
        throw error(unknown.isEmpty ? missing : unknown, of: type, present)
    }

    /// Returns the error for fields that a type does not have.
    static func error(_ fields: [String], of type: Any.Type, _ present: Set<String> = []) -> DescriptionError {
        let names = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        let there = present.isEmpty ? "" : "; the arguments have \(present.sorted().joined(separator: ", "))"
        return DescriptionError(
            .invalidValue,
            "its jobs are to be unique by \(names), but \(type) has no such field\(there); correct the field's name"
        )
    }

    private static func knowsFields<Parameters: Decodable>(of type: Parameters.Type) -> Bool {
        // No field has this name, so a type that accepts it accepts any.
        !unknown([""], of: type).isEmpty
    }
}

/// A decoder that finds out the coding keys of a type, and then fails.
private struct KeyProbe: Decoder {
    final class Keys {
        var isKey: ((String) -> Bool)?
    }

    struct Stop: Error {}

    let keys = Keys()
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if keys.isKey == nil { keys.isKey = { Key(stringValue: $0) != nil } }
        throw Stop()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }
}
