public import ArgumentParser
public import Errand

/// Options have hyphens where descriptions have underscores; both are accepted.
extension UniquenessPolicy: ExpressibleByArgument {
    /// Reads an option's value; `nil` if there is no such policy.
    public init?(argument: String) { self.init(rawValue: argument.replacing("-", with: "_")) }

    /// The policies, as help texts and errors list them.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue.replacing("_", with: "-") } }

    /// The policy, as help texts show it.
    public var defaultValueDescription: String { rawValue.replacing("_", with: "-") }
}
extension UniqueUntil: ExpressibleByArgument {}
extension Schedule.Overlap: ExpressibleByArgument {}
