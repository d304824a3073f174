/// A day of the Gregorian calendar, by its number since 1970-01-01 and by its date. It has no zone.
struct CivilDay: Equatable {
    /// Days since 1970-01-01.
    let number: Int64
    let year: Int64
    /// 1 to 12.
    let month: Int64
    /// 1 to 31.
    let day: Int64

    static let seconds: Int64 = 86_400

    /// Makes a day from its number. The calendar repeats every 400 years, which are 146,097 days, and is simplest if
    /// the year begins in March.
    init(number: Int64) {
        let shifted = number + 719_468
        let era = shifted.floored(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        self.number = number
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    init(year: Int64, month: Int64, day: Int64) {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.floored(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        number = era * 146_097 + dayOfEra - 719_468
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day of the week, from 0 for Sunday.
    var weekday: Int64 {
        let shifted = number + 4
        return shifted - shifted.floored(by: 7) * 7
    }

    var daysInMonth: Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    var isLastOfMonth: Bool { day == daysInMonth }

    var firstOfNextMonth: CivilDay {
        month == 12 ? CivilDay(year: year + 1, month: 1, day: 1) : CivilDay(year: year, month: month + 1, day: 1)
    }

    var lastOfPreviousMonth: CivilDay { CivilDay(number: number - day) }
}

extension Int64 {
    /// Returns the quotient rounded down, also below zero.
    func floored(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
