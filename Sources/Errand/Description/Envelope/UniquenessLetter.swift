/// The letter for a job's uniqueness in an envelope's header, which the broker reads: the first one of the policy,
/// upper-case if the job holds its name until it starts.
package struct UniquenessLetter: Equatable {
    let policy: UniquenessPolicy
    let until: UniqueUntil

    package init(_ policy: UniquenessPolicy, until: UniqueUntil) {
        self.policy = policy
        // Without a unique name there is nothing to release.
        self.until = policy.takesName ? until : .finished
    }

    /// Reads a header's letter; `nil` if it is invalid.
    init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "i"): self.init(.ignore, until: .finished)
        case UInt8(ascii: "d"): self.init(.drop, until: .finished)
        case UInt8(ascii: "r"): self.init(.replace, until: .finished)
        case UInt8(ascii: "k"): self.init(.keepLatest, until: .finished)
        case UInt8(ascii: "t"): self.init(.throttle, until: .finished)
        case UInt8(ascii: "B"): self.init(.debounce, until: .started)
        case UInt8(ascii: "D"): self.init(.drop, until: .started)
        case UInt8(ascii: "R"): self.init(.replace, until: .started)
        case UInt8(ascii: "K"): self.init(.keepLatest, until: .started)
        default: return nil
        }
    }

    /// The letter as text.
    package var text: String {
        switch (policy, until) {
        case (.ignore, _): "i"
        case (.throttle, _): "t"
        case (.debounce, _): "B"
        case (.drop, .finished): "d"
        case (.replace, .finished): "r"
        case (.drop, .started): "D"
        case (.replace, .started): "R"
        case (.keepLatest, .finished): "k"
        case (.keepLatest, .started): "K"
        }
    }
}
