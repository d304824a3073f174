import Crypto

extension OperationDescription {
    /// The name under which the job is unique: its own, or the operation and its canonical arguments, such as
    /// `thumbnail {"path":"a.jpg"}`; `nil` if the policy is `ignore` and no name was given.
    ///
    /// If that has more than 1,024 bytes, `sha256:` and the digest of the canonical arguments in lower-case hexadecimal
    /// digits replace the arguments.
    public var uniqueName: String? {
        if let name { return name }
        return uniquenessPolicy == .ignore ? nil : Self.defaultName(operation, arguments)
    }

    /// Returns the name of a job that is unique by its operation and these arguments.
    static func defaultName(_ operation: String, _ arguments: JSONText) -> String {
        let canonical = arguments.canonical.bytes
        if operation.utf8.count + 1 + canonical.count <= DescriptionLimits.nameBytes {
            return operation + " " + String(decoding: canonical, as: UTF8.self)
        }
        var digest: [UInt8] = []
        for byte in SHA256.hash(data: canonical) { JSONEscaping.appendHex(byte, to: &digest) }
        return operation + " sha256:" + String(decoding: digest, as: UTF8.self)
    }
}
