/// The letter that stands for a job's uniqueness in an envelope's header, where the broker reads it: `i`, `d` and `r` for the
/// policies; a capital one where the name is let go at the start.
package struct UniquenessLetter: Equatable {
    let policy: UniquenessPolicy
    let until: UniqueUntil

    package init(_ policy: UniquenessPolicy, until: UniqueUntil) {
        self.policy = policy
        // Without a name there is nothing to let go.
        self.until = policy == .ignore ? .finished : until
    }

    /// Reads a header's letter; `nil` when it is none.
    init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "i"): self.init(.ignore, until: .finished)
        case UInt8(ascii: "d"): self.init(.drop, until: .finished)
        case UInt8(ascii: "r"): self.init(.replace, until: .finished)
        case UInt8(ascii: "D"): self.init(.drop, until: .started)
        case UInt8(ascii: "R"): self.init(.replace, until: .started)
        default: return nil
        }
    }

    /// As a text of this one letter.
    package var text: String {
        switch (policy, until) {
        case (.ignore, _): "i"
        case (.drop, .finished): "d"
        case (.replace, .finished): "r"
        case (.drop, .started): "D"
        case (.replace, .started): "R"
        }
    }
}
