import ErrandText

extension OperationDescription {
    /// The name under which the job is unique: its own, or the operation, `sha256:` and the digest of the canonical
    /// arguments in lower-case hexadecimal digits; `nil` if the policy is `ignore` and no name was given.
    ///
    /// The arguments may be private, and names appear in lists, events and logs.
    public var uniqueName: String? {
        if let name { return name }
        return uniquenessPolicy.needsName ? Self.digestName(operation, arguments) : nil
    }

    /// Returns the name of a job that is unique by its operation and these arguments, which nobody can read in it.
    static func digestName(_ operation: String, _ arguments: JSONText) -> String {
        operation + " sha256:" + SHA256.hex(arguments.canonical.bytes)
    }

    /// Returns a name that shows the arguments: `thumbnail {"path":"a.jpg"}`; a digest if that is too long for a name.
    static func readableName(_ operation: String, _ arguments: JSONText) -> String {
        let canonical = arguments.canonical.bytes
        guard operation.utf8.count + 1 + canonical.count <= DescriptionLimits.nameBytes else {
            return digestName(operation, arguments)
        }
        return operation + " " + String(decoding: canonical, as: UTF8.self)
    }
}
