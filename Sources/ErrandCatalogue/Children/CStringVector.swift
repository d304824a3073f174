/// C strings in one block of memory, for `argv` or `envp`.
struct CStringVector {
    private var characters: [CChar] = []
    private var starts: [Int] = []
    /// Whether a string contained a NUL byte, at which C would cut it off.
    private(set) var hasInnerNUL = false

    /// Appends a string's UTF-8.
    mutating func append(_ string: String) {
        append(string.utf8.lazy.map(CChar.init(bitPattern:)))
    }

    /// Appends bytes without a NUL at their end.
    mutating func append(_ bytes: some Sequence<CChar>) {
        starts.append(characters.count)
        characters.append(contentsOf: bytes)
        if characters[(starts.last ?? 0)...].contains(0) { hasInnerNUL = true }
        characters.append(0)
    }

    /// Calls `body` with pointers to the strings, followed by a null pointer.
    mutating func withPointers<Result>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let starts = starts
        return characters.withUnsafeMutableBufferPointer { characters in
            // Only an empty buffer has no base address, and then there are no starts.
            var pointers = starts.map { start in characters.baseAddress.map { $0 + start } }
            pointers.append(nil)
            return body(pointers)
        }
    }
}
