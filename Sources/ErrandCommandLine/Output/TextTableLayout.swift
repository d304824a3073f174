/// The columns of a table that are shown, and their widths.
struct TextTableLayout: Sendable {
    /// The space between two columns.
    static let gap = "  "

    /// The columns that are shown, from left to right.
    private(set) var shown: [Int]
    /// The columns left out for lack of room.
    private(set) var dropped: [Int] = []
    /// The width of each column.
    private(set) var widths: [Int]

    /// Lays out columns. If they are too wide, it first cuts the widest cells that may be cut, and then leaves out
    /// columns in their turn.
    ///
    /// - Parameters:
    ///   - widths: The widths of the columns' contents.
    ///   - empty: The columns to leave out because they are empty.
    ///   - limit: The number of characters in a line; `nil` for any number.
    init(of columns: [TextColumn], widths natural: [Int], without empty: Set<Int>, within limit: Int?) {
        shown = columns.indices.filter { !empty.contains($0) }
        widths = natural
        guard let limit else { return }
        while !cut(columns, to: limit) {
            let next = shown.filter { columns[$0].dropTurn != nil }.min {
                columns[$0].dropTurn ?? 0 < columns[$1].dropTurn ?? 0
            }
            guard let next else { return }
            shown.removeAll { $0 == next }
            dropped.append(next)
            widths = natural
        }
    }

    private var total: Int { shown.reduce(0) { $0 + widths[$1] } + Self.gap.count * max(0, shown.count - 1) }

    /// Cuts the widest columns until the line fits.
    ///
    /// - Returns: Whether it fits.
    private mutating func cut(_ columns: [TextColumn], to limit: Int) -> Bool {
        while total > limit {
            let wide = shown.filter { widths[$0] > columns[$0].leastWidth ?? .max }
            guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { return false }
            widths[widest] -= 1
        }
        return true
    }
}
