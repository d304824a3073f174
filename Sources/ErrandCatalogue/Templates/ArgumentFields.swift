import ErrandText

/// The fields of an arguments object, each as its original JSON text: numbers keep every digit.
package struct ArgumentFields: Sendable {
    /// No arguments at all.
    package static let none = ArgumentFields(json: [], ranges: [:])

    private let json: [UInt8]
    /// The ranges by the UTF-8 of the name: names are compared byte by byte, without Unicode equivalence.
    private let ranges: [[UInt8]: Range<Int>]

    private init(json: [UInt8], ranges: [[UInt8]: Range<Int>]) {
        self.json = json
        self.ranges = ranges
    }

    /// Splits an arguments object.
    ///
    /// - Parameter json: A strict JSON object; of two fields with the same name the last one counts.
    /// - Throws: ``ArgumentError`` if it is not JSON or not an object.
    package init(json: [UInt8]) throws(ArgumentError) {
        var splitter = JSONSplitter(bytes: json)
        do {
            guard let ranges = try splitter.objectFields() else {
                throw ArgumentError(reason: "the arguments are not a JSON object, so there is none to fill in")
            }
            self.init(json: json, ranges: ranges)
        } catch let error as JSONSyntaxError {
            throw ArgumentError(reason: "the arguments are not valid JSON: \(error)")
        } catch let error as ArgumentError {
            throw error
        } catch {
            throw ArgumentError(reason: "\(error)")
        }
    }

    /// Returns one argument as text: a JSON string decoded, any other value in its JSON form.
    ///
    /// - Parameter name: The argument's name.
    /// - Throws: ``ArgumentError`` if it is missing or null or contains a NUL character.
    package func text(of name: String) throws(ArgumentError) -> String {
        guard let range = ranges[Array(name.utf8)] else {
            throw ArgumentError(reason: "the argument \"\(name)\" is missing")
        }
        guard !json[range].elementsEqual("null".utf8) else {
            throw ArgumentError(reason: "the argument \"\(name)\" is null")
        }
        let bytes: [UInt8]
        if json[range.lowerBound] == UInt8(ascii: "\"") {
            bytes = JSONText.decoded(json[range])
        } else {
            bytes = Array(json[range])
        }
        guard !bytes.contains(0) else {
            throw ArgumentError(
                reason: "the argument \"\(name)\" holds a NUL character, which commands and addresses cannot carry"
            )
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The error for arguments that do not fit their operation; a retry would not help.
package struct ArgumentError: Error, Equatable, CustomStringConvertible {
    let reason: String

    /// A description of the problem and its argument.
    package var description: String { reason.printable }
}
