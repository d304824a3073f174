import ErrandText

/// Parses cron expressions.
struct CronParser {
    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]
    /// The maximum length of an expression in bytes.
    static let longest = 256

    static func parse(_ text: String) throws(ScheduleError) -> CronExpression {
        guard text.utf8.count <= longest else { throw refusal("it has more than \(longest) bytes") }
        if let odd = text.unicodeScalars.first(where: { !(0x20...0x7E).contains($0.value) && $0.value != 0x09 }) {
            let shown = String(Character(odd)).printable
            throw refusal("it contains \"\(shown)\", which no cron expression has; write plain ASCII characters")
        }
        let words = text.split { $0 == " " || $0 == "\t" }
        if let first = words.first, first.hasPrefix("@") {
            guard words.count == 1, let meaning = nicknames[first.lowercased()] else {
                let known = nicknames.keys.sorted().joined(separator: ", ")
                throw refusal(
                    "\"\(text)\" is unknown; there are \(known). An interval, such as every 90s, is not written as cron"
                )
            }
            return try expression(meaning.split(separator: " "))
        }
        guard [5, 6].contains(words.count) else {
            throw refusal(
                "it has \(words.count) fields; write five (minute, hour, day of month, month, day of week), or six "
                    + "with the second first"
            )
        }
        return try expression(words)
    }

    private static func expression(_ words: [Substring]) throws(ScheduleError) -> CronExpression {
        let hasSeconds = words.count == 6
        let fields = hasSeconds ? CronField.allCases : Array(CronField.allCases.dropFirst())
        var expression = CronExpression()
        if !hasSeconds { expression.sets[.second]?.insert(0) }
        for (field, word) in zip(fields, words) { try read(word, field, into: &expression) }
        try expression.checkThatItHappens()
        return expression
    }

    private static func read(
        _ word: Substring,
        _ field: CronField,
        into expression: inout CronExpression
    ) throws(ScheduleError) {
        var set = CronSet()
        for part in word.split(separator: ",", omittingEmptySubsequences: false) {
            if field == .dayOfMonth, part.lowercased() == "l" {
                expression.hasLastDay = true
            } else {
                try insert(part, field, into: &set)
            }
        }
        // In Vixie's cron, the first character determines whether a field restricts the days.
        if word.hasPrefix("*") { expression.starred.insert(field) }
        expression.sets[field] = set
    }

    private static func insert(
        _ part: Substring,
        _ field: CronField,
        into set: inout CronSet
    ) throws(ScheduleError) {
        let halves = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = try numbers(halves[0], field)
        var step = 1
        if halves.count == 2 {
            // Sunday is 7, too.
            let first = numbers.lowerBound > field.last ? numbers.lowerBound % 7 : numbers.lowerBound
            let isRange = halves[0] == "*" || halves[0].contains("-")
            step = try self.step(halves[1], of: isRange ? numbers : first...max(first, field.last), field, part)
            guard isRange else {
                let start = first < numbers.lowerBound ? "\(first)" : "\(halves[0])"
                throw refusal(field, part, "a step goes with * or a range: write \(start)-\(field.last)/\(step)")
            }
        }
        for number in stride(from: numbers.lowerBound, through: numbers.upperBound, by: step) {
            set.insert(field == .dayOfWeek ? number % 7 : number)
        }
    }

    /// Returns a step, which must not be longer than its range: `*/90` minutes would be an hour, not 90 minutes.
    private static func step(
        _ text: Substring,
        of numbers: ClosedRange<Int>,
        _ field: CronField,
        _ part: Substring
    ) throws(ScheduleError) -> Int {
        let longest = min(numbers.count, field.count)
        guard text.utf8.allSatisfy(isDigit), let step = Int(text), (1...longest).contains(step) else {
            let range = "\(numbers.lowerBound) to \(numbers.upperBound)"
            throw refusal(
                field,
                part,
                "its step must be a whole number from 1 to \(longest), because \(range) has \(longest) values"
            )
        }
        return step
    }

    private static func numbers(_ text: Substring, _ field: CronField) throws(ScheduleError) -> ClosedRange<Int> {
        if text == "*" { return field.range.lowerBound...field.last }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = field.value(ends[0]), var last = field.value(ends[ends.count - 1]) else {
            throw refusal(field, text, "it must be \(field.rule), or a range or list of these")
        }
        // A range may end with Sunday as the last day of the week. From Sunday to Sunday is one day.
        if field == .dayOfWeek, first > 0, last == 0 { last = 7 }
        guard first <= last else {
            throw refusal(
                field,
                text,
                "the range goes backwards; write \(ends[0])-\(field.last),\(field.range.lowerBound)-\(ends[1])"
            )
        }
        return first...last
    }

    private static func refusal(_ field: CronField, _ value: Substring, _ message: String) -> ScheduleError {
        refusal("\(field.rawValue) \"\(value)\": \(message)")
    }

    static func refusal(_ message: String) -> ScheduleError { ScheduleError(.invalid, "cron", message) }
}

extension CronField {
    /// The greatest number that is not an alternative spelling.
    fileprivate var last: Int { self == .dayOfWeek ? 6 : range.upperBound }
    /// The count of numbers without alternative spellings.
    fileprivate var count: Int { last - range.lowerBound + 1 }
}
