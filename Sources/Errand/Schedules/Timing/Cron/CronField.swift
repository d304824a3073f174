/// A field of a cron expression: its name and valid values.
enum CronField: String, CaseIterable {
    case second
    case minute
    case hour
    case dayOfMonth = "day of month"
    case month
    case dayOfWeek = "day of week"

    /// The valid numbers. Both 7 and 0 are Sunday.
    var range: ClosedRange<Int> {
        switch self {
        case .second, .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .dayOfWeek: 0...7
        }
    }

    /// The valid names, in the order of their numbers.
    private var names: [String] {
        switch self {
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        default: []
        }
    }

    /// The valid values, for people.
    var rule: String {
        let numbers = "\(range.lowerBound) to \(range.upperBound)"
        switch self {
        case .month: return numbers + " or jan to dec"
        case .dayOfWeek: return numbers + " (0 and 7 are Sunday) or sun to sat"
        case .dayOfMonth: return numbers + " or L for the last day"
        default: return numbers
        }
    }

    /// Returns the value of a number or name.
    func value(_ text: Substring) -> Int? {
        if let index = names.firstIndex(of: text.lowercased()) { return index + range.lowerBound }
        guard !text.isEmpty, text.utf8.count <= 2, text.utf8.allSatisfy(isDigit), let number = Int(text) else {
            return nil
        }
        return range.contains(number) ? number : nil
    }
}

/// A set of numbers of a field, one bit each.
struct CronSet: Equatable {
    private(set) var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }
    func contains(_ number: Int64) -> Bool { (0..<64).contains(number) && bits >> UInt64(number) & 1 == 1 }
    mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }

    /// Returns the first number from `number` on.
    func first(from number: Int64) -> Int64? {
        guard number < 64 else { return nil }
        let left = bits >> UInt64(max(number, 0))
        return left == 0 ? nil : max(number, 0) + Int64(left.trailingZeroBitCount)
    }

    /// Returns the last number up to `number`.
    func last(upTo number: Int64) -> Int64? {
        guard number >= 0 else { return nil }
        let left = number >= 63 ? bits : bits & (1 << UInt64(number + 1) - 1)
        return left == 0 ? nil : Int64(63 - left.leadingZeroBitCount)
    }
}
