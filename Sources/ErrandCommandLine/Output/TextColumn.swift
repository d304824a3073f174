/// A column of a table: its heading, and what becomes of it if the table is wider than the terminal.
package struct TextColumn: Sendable {
    /// The alignment of a column.
    package enum Alignment: Sendable {
        /// Left-aligned, for text.
        case left
        /// Right-aligned, for numbers.
        case right
    }

    /// The heading.
    package let title: String
    /// The alignment of the heading and the cells.
    package let alignment: Alignment
    /// Whether the column is left out if all its cells are empty, `-` or 0.
    package private(set) var isOptional = false
    /// The number of characters to which its cells may be cut; `nil` if they must stay whole.
    package private(set) var leastWidth: Int?
    /// The column's turn to be left out for lack of room, lowest first; `nil` if it always stays.
    package private(set) var dropTurn: Int?

    /// Makes a left-aligned column, for text.
    package static func left(_ title: String) -> TextColumn { TextColumn(title: title, alignment: .left) }

    /// Makes a right-aligned column, for numbers.
    package static func right(_ title: String) -> TextColumn { TextColumn(title: title, alignment: .right) }

    /// Returns the column, left out if all its cells are empty, `-` or 0.
    package var optional: TextColumn {
        var column = self
        column.isOptional = true
        return column
    }

    /// Returns the column, with cells that may be cut to a number of characters.
    package func cut(to width: Int) -> TextColumn {
        var column = self
        column.leastWidth = width
        return column
    }

    /// Returns the column, left out in its turn if there is no room.
    package func dropped(_ turn: Int) -> TextColumn {
        var column = self
        column.dropTurn = turn
        return column
    }
}
