/// When a job expires: in a pushed envelope the milliseconds after the push, in a stored one a time.
enum EnvelopeExpiry: Equatable {
    case afterPush(Int64)
    case at(Int64)

    /// Reads the field of a header.
    init(_ field: ArraySlice<UInt8>) throws(EnvelopeError) {
        let isRelative = field.first == UInt8(ascii: "+")
        guard let number = decimal(isRelative ? field.dropFirst() : field) else { throw EnvelopeHeader.malformed }
        self = isRelative ? .afterPush(number) : .at(number)
    }

    /// The time of a stored envelope; `nil` of a pushed one.
    var time: Int64? { if case .at(let time) = self { time } else { nil } }

    /// Returns an envelope of version 2 with another text as the expiry.
    static func replacing(in envelope: [UInt8], with text: String) -> [UInt8] {
        let separators = envelope.indices.lazy.filter { envelope[$0] == UInt8(ascii: ";") }.prefix(5)
        guard separators.count == 5 else { return envelope }
        let places = Array(separators)
        return Array(envelope[...places[3]]) + text.utf8 + envelope[places[4]...]
    }
}
