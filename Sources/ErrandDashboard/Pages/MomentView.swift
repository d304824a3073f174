import ErrandOperator
import Foundation

/// The values of a time for the template `moment`: relative, with the exact time as its title.
struct MomentView {
    /// The present, in milliseconds since 1970 UTC.
    let now: Int64

    init(now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) { self.now = now }

    /// Returns the values of a time such as `2 min ago` or `in 5 min`.
    ///
    /// - Parameter what: What happened then, such as `died`.
    func relative(_ time: Int64, _ what: String) -> [String: Any] {
        let exact = Timestamp.text(time)
        return ["at": exact, "words": Timestamp.relative(time, to: now), "title": "\(what) \(exact)"]
    }

    /// Returns the values of a time that is shown exactly, in the zone of the browser if it can.
    func exact(_ time: Int64) -> [String: Any] {
        let text = Timestamp.text(time)
        return ["at": text, "words": Self.short(text), "title": text, "isLocal": true]
    }

    /// Returns a time in UTC without its milliseconds, as people read it: `2026-11-21 10:00:00 UTC`.
    private static func short(_ text: String) -> String {
        guard text.utf8.count == 24 else { return text }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }
}
