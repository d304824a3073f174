import Errand
import ErrandText

/// The fields of an arguments object, each as its original JSON text: numbers keep every digit.
struct ArgumentFields {
    /// No arguments at all.
    static let none = ArgumentFields(fields: [:])

    /// The values by the UTF-8 of the name: names are compared byte by byte, without Unicode equivalence.
    private let fields: [[UInt8]: JSONText]
}

extension ArgumentFields {
    /// Splits an arguments object; of two fields with the same name the last one counts.
    ///
    /// - Throws: ``ArgumentError`` if it is not an object.
    init(_ arguments: JSONText) throws(ArgumentError) {
        guard arguments.bytes.first == UInt8(ascii: "{") else {
            throw ArgumentError(reason: "the arguments are not a JSON object, so no {argument} can be filled in")
        }
        fields = Dictionary(arguments.members.map { (Array($0.key.utf8), $0.value) }) { _, last in last }
    }

    /// Returns one argument as text: a JSON string decoded, any other value in its JSON form.
    ///
    /// - Parameter name: The argument's name.
    /// - Throws: ``ArgumentError`` if it is missing or null or contains a NUL character.
    func text(of name: String) throws(ArgumentError) -> String {
        guard let value = fields[Array(name.utf8)] else {
            throw ArgumentError(reason: "the argument \"\(name)\" is missing")
        }
        guard value != .null else { throw ArgumentError(reason: "the argument \"\(name)\" is null") }
        let text = value.string ?? value.description
        guard !text.utf8.contains(0) else {
            throw ArgumentError(
                reason: "the argument \"\(name)\" holds a NUL character, which commands and addresses cannot carry"
            )
        }
        return text
    }
}

/// The error for arguments that do not fit their operation; a retry would not help.
package struct ArgumentError: Error, Equatable, CustomStringConvertible {
    let reason: String

    /// A description of the problem and its argument.
    package var description: String { reason.printable }
}
