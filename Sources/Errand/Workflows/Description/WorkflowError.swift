import ErrandText

/// The error for an invalid workflow: what is wrong, where, and what to do.
///
/// ```swift
/// do {
///     _ = try WorkflowDescription(json: #"{"workflow":"import","jobs":{"parse":{"operation":"parse","after":["fetsh"]}}}"#)
/// } catch {
///     print(error)  // invalid workflow: jobs.parse.after[0]: no job has the key "fetsh"; …
/// }
/// ```
public struct WorkflowError: Error, Sendable, Equatable {
    /// The kind of error; stable, for programs.
    public let code: DescriptionError.Code
    /// The path of the invalid part, such as `jobs.parse.after[1]`; `nil` for the whole workflow.
    public var path: String? {
        let path = place.reduce("") { $0 + ($0.isEmpty || $1.hasPrefix("[") ? "" : ".") + $1 }
        return path.isEmpty ? nil : path.printable.shortened(to: 300)
    }
    /// The offset of the error in bytes from the beginning of the JSON text, if there is a text.
    public let offset: Int?
    /// What is wrong and what to do, for people, without the path and the offset.
    public let message: String
    /// The parts of the path: keys, and `[1]` for an item of an array.
    package let place: [String]

    init(_ code: DescriptionError.Code, _ place: [String], at offset: Int? = nil, _ message: String) {
        self.code = code
        self.place = place
        self.offset = offset
        // Keys are untrusted text of any length.
        self.message = message.printable.shortened(to: 1000)
    }

    init(_ error: DescriptionError, in place: [String]) {
        let field = error.field?.split(separator: ".").map(String.init) ?? []
        self.init(error.code, place + field, at: error.offset, error.message)
    }

    init(_ error: JSONTextError, in place: [String]) {
        self.init(DescriptionError.Code(error.code), place, at: error.offset, error.message)
    }

    /// The same error without the offset, for a workflow that was written in another format than JSON.
    package var withoutOffset: WorkflowError { WorkflowError(code, place, message) }
}

extension WorkflowError: CustomStringConvertible {
    /// The complete message with path and offset.
    public var description: String { text(at: offset.map { "at byte \($0)" }) }

    /// The complete message with path and the position in the text as editors show it.
    ///
    /// - Parameter text: The text in which the error is.
    package func explanation(in text: [UInt8]) -> String {
        self.text(at: offset.map { "at " + TextPosition.words(of: $0, in: text) })
    }

    private func text(at position: String?) -> String {
        let words = [path, position].compactMap(\.self).joined(separator: " ")
        return "invalid workflow: " + (words.isEmpty ? message : "\(words): \(message)")
    }
}
