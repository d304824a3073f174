import ArgumentParser
import ErrandCommandLine

/// The options of commands that print a table.
struct ListOptions: ParsableArguments {
    @Flag(help: "Do not fit the table to the terminal: whole ids, exact times, every character.")
    var full = false

    /// How the table is written.
    var style: ListStyle { ListStyle(width: full ? nil : Terminal.width) }
}

/// How a table is written: shortened to a terminal, or in full for files and other programs.
struct ListStyle: Sendable {
    /// The number of characters in a line; `nil` for any number.
    let width: Int?

    /// Whether ids and times are written in full.
    var isFull: Bool { width == nil }

    /// The longest text of a cell. A full table has a limit too, because a job's error may have thousands of characters.
    var mostCharacters: Int { isFull ? 1000 : 200 }
}
