import Errand

/// The reply to one step of the audit script.
package struct AuditPage: Sendable {
    /// The position of the next page; `nil` at the end.
    package let next: String?
    /// The findings: kind, subject, and whether it was repaired.
    package private(set) var findings: [(kind: String, subject: String, isRepaired: Bool)]
    /// The list of the step.
    package let list: [String]

    /// Parses the script's reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count == 3, let next = parts[0].text, let found = parts[1].elements,
            let list = parts[2].elements, found.count % 3 == 0
        else { return nil }
        self.next = next == "end" ? nil : next
        self.list = list.map { $0.text ?? "" }
        findings = stride(from: 0, to: found.count, by: 3).map {
            (found[$0].text ?? "", found[$0 + 1].text ?? "", found[$0 + 2].number == 1)
        }
    }

    func with(isRepaired: Bool) -> AuditPage {
        var page = self
        page.findings = findings.map { ($0.kind, $0.subject, isRepaired) }
        return page
    }

    /// ``list`` up to the first empty text, and the rest after it.
    package var halves: (first: ArraySlice<String>, second: ArraySlice<String>) {
        let gap = list.firstIndex(of: "") ?? list.endIndex
        return (list[..<gap], list[gap...].dropFirst())
    }
}

/// Fingerprints of ids, for sets of millions: 8 bytes each. Every process has new keys for them, so no attacker can
/// choose two ids that collide.
struct Fingerprints {
    private var values: [Int] = []

    static func of(_ id: String) -> Int {
        var hasher = Hasher()
        var id = id
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    mutating func add(_ id: String) { values.append(Self.of(id)) }

    /// Must be called between the last ``add(_:)`` and the first ``times(_:)``.
    mutating func sort() { values.sort() }

    /// Returns how often an id was added.
    func times(_ id: String) -> Int {
        let value = Self.of(id)
        var index = firstIndex { $0 >= value }
        var times = 0
        while index < values.count, values[index] == value {
            times += 1
            index += 1
        }
        return times
    }

    private func firstIndex(where isBehind: (Int) -> Bool) -> Int {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(values[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
