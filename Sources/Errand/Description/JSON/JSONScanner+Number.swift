extension JSONScanner {
    /// Scans a number: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
    mutating func number() throws(JSONTextError) {
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        if skip(UInt8(ascii: ".")) { try digits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func digits() throws(JSONTextError) {
        let first = position
        while isDigit(current) { position += 1 }
        guard position > first else { throw expected("a digit") }
    }

    /// Returns the integer at a range that was scanned, or `nil` if it has a fraction or an exponent, or does not fit.
    ///
    /// It does not use floating point, so that 9007199254740993 is preserved.
    func integer(in range: Range<Int>) -> Int64? {
        let isNegative = bytes[range].first == UInt8(ascii: "-")
        let digits = isNegative ? bytes[range].dropFirst() : bytes[range]
        return decimal(digits, isNegative: isNegative)
    }
}

/// Returns whether a byte is one of `0` to `9`.
func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}

/// Returns the number in plain decimal digits, or `nil` if there are none, there are other bytes, or it does not fit.
func decimal(_ digits: ArraySlice<UInt8>, isNegative: Bool = false) -> Int64? {
    guard !digits.isEmpty else { return nil }
    var number: Int64 = 0
    for digit in digits {
        guard isDigit(digit) else { return nil }
        let (tenfold, overflowed) = number.multipliedReportingOverflow(by: 10)
        let step = Int64(digit &- UInt8(ascii: "0"))
        let (sum, carried) =
            isNegative ? tenfold.subtractingReportingOverflow(step) : tenfold.addingReportingOverflow(step)
        guard !overflowed, !carried else { return nil }
        number = sum
    }
    return number
}
