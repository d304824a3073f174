/// The `"operation":…,"name":…` part of events, which scripts copy without reading JSON.
package enum EventFragment {
    /// Returns the operation, if the fragment has one.
    package static func operation(in fragment: [UInt8]) -> String? {
        let start = #""operation":""#.utf8
        guard fragment.starts(with: start) else { return nil }
        let name = String(decoding: fragment.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        return QueueName.isValid(name) ? name : nil
    }
}
