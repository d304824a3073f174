import ErrandCommandLine

/// A confirmation before an action that cannot be undone.
enum Confirmation {
    /// Asks on standard error and reads the reply; anything but `yes` or `y` means no.
    static func ask(_ question: String) -> Bool {
        StandardError.write("\(question) Type yes to do so:")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
