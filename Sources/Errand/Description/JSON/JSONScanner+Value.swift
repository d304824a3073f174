extension JSONScanner {
    /// Scans one value of any type and returns its range.
    ///
    /// - Throws: an error if the value is malformed, or has more than ``DescriptionLimits/depth`` nested arrays and
    ///   objects.
    mutating func value() throws(JSONTextError) -> Range<Int> {
        let first = position
        var nesting = Nesting()
        repeat {
            skipWhitespace()
            if try open(&nesting) { continue }
            try close(&nesting)
        } while nesting.depth > 0
        return first..<position
    }

    /// Scans the beginning of a value: a whole scalar, an empty container, or everything before a container's first
    /// value. Returns `true` in the last case.
    private mutating func open(_ nesting: inout Nesting) throws(JSONTextError) -> Bool {
        let isObject = current == UInt8(ascii: "{")
        guard isObject || current == UInt8(ascii: "[") else {
            try scalar()
            return false
        }
        guard nesting.push(isObject: isObject) else {
            throw JSONTextError(
                code: .tooDeep,
                offset: position - start,
                message: "arrays and objects are nested more than \(DescriptionLimits.depth) levels deep; flatten them"
            )
        }
        position += 1
        skipWhitespace()
        if skip(nesting.closing) {
            nesting.pop()
            return false
        }
        if isObject { try memberKey() }
        return true
    }

    /// After a value, scans the ends of containers up to the next value, or to the end of the outermost container.
    private mutating func close(_ nesting: inout Nesting) throws(JSONTextError) {
        while nesting.depth > 0 {
            skipWhitespace()
            if skip(UInt8(ascii: ",")) {
                skipWhitespace()
                if nesting.isInObject { try memberKey() }
                return
            }
            guard skip(nesting.closing) else { throw expected(nesting.isInObject ? "',' or '}'" : "',' or ']'") }
            nesting.pop()
        }
    }

    /// Scans a member's key and its colon.
    @discardableResult
    mutating func memberKey() throws(JSONTextError) -> JSONStringToken {
        guard current == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
        let key = try string()
        skipWhitespace()
        guard skip(UInt8(ascii: ":")) else { throw expected("':' after a key") }
        return key
    }
}

/// The open containers: one bit each, set for an object. With the limit of 64 levels they fit into one word.
private struct Nesting {
    private var objects: UInt64 = 0
    private(set) var depth = 0

    var isInObject: Bool { objects & 1 == 1 }
    var closing: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    mutating func push(isObject: Bool) -> Bool {
        guard depth < min(DescriptionLimits.depth, 64) else { return false }
        objects = objects << 1 | (isObject ? 1 : 0)
        depth += 1
        return true
    }

    mutating func pop() {
        objects >>= 1
        depth -= 1
    }
}
