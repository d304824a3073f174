public import ArgumentParser
public import Errand

/// Options have hyphens where descriptions have underscores; both are accepted.
extension UniquenessPolicy: ExpressibleByArgument {
    /// Reads an option's value; `nil` if there is no such policy.
    public init?(argument: String) { self.init(rawValue: argument.replacing("-", with: "_")) }

    /// The policies, as help texts and errors list them.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue.replacing("_", with: "-") } }

    /// What each policy does if another job has the name, for help texts.
    public static var allValueDescriptions: [String: String] {
        Dictionary(zip(allValueStrings, allCases.map(\.summary)), uniquingKeysWith: { first, _ in first })
    }

    private var summary: String {
        switch self {
        case .ignore: "nothing: both jobs run"
        case .drop: "the new job is dropped"
        case .replace: "the new job replaces it, and stops its run"
        case .throttle: "the new job is dropped for a window after the first one"
        case .debounce: "the new job replaces it, and waits for a window without another one"
        case .keepLatest: "the new job replaces one that waits, and waits for one that runs"
        }
    }

    /// The policy, as help texts show it.
    public var defaultValueDescription: String { rawValue.replacing("_", with: "-") }
}
extension UniqueUntil: ExpressibleByArgument {}
extension Schedule.Overlap: ExpressibleByArgument {}
