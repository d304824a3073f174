/// Rows of text with headings and aligned columns, made to fit a terminal.
package struct TextTable: Sendable {
    /// A text with its colour. It is made safe for terminals and put on one line.
    package struct Cell: Sendable, ExpressibleByStringInterpolation {
        let text: String
        let colour: Colour?

        /// Makes a cell of at most `limit` characters.
        package init(_ text: String, colour: Colour? = nil, atMost limit: Int = .max) {
            self.text = text.onOneLine(atMost: limit)
            self.colour = colour
        }

        /// Makes a cell without a colour.
        package init(stringLiteral text: String) { self.init(text) }

        /// Whether the cell tells a reader nothing.
        var isEmpty: Bool { ["", "-", "0"].contains(text) }
    }

    private let columns: [TextColumn]
    private var rows: [[Cell]] = []

    /// Makes a table without rows.
    package init(_ columns: [TextColumn]) { self.columns = columns }

    /// Adds a row with one cell a column.
    package mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// Returns the lines of the table, headings first.
    ///
    /// - Parameters:
    ///   - width: The number of characters in a line; `nil` for any number.
    ///   - coloured: Whether the lines have colours.
    package func lines(width: Int?, coloured: Bool = Terminal.takesColours) -> [String] {
        lines(layout(width), coloured)
    }

    /// Writes the table to standard output, and the headings of the columns for which there was no room.
    ///
    /// - Parameter width: The number of characters in a line; `nil` for any number. By default that of the terminal.
    package func print(width: Int? = Terminal.width) {
        let layout = layout(width)
        for line in lines(layout, Terminal.takesColours) { StandardOutput.write(line) }
        guard !layout.dropped.isEmpty else { return }
        let titles = layout.dropped.sorted().map { columns[$0].title }.joined(separator: ", ")
        StandardOutput.write(Colour.faint.painted("no room for \(titles): widen the terminal"))
    }

    private func layout(_ width: Int?) -> TextTableLayout {
        let widths = columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, cell(column, in: $1)?.text.count ?? 0) }
        }
        let empty = columns.indices.filter { column in
            columns[column].isOptional && rows.allSatisfy { cell(column, in: $0)?.isEmpty ?? true }
        }
        return TextTableLayout(of: columns, widths: widths, without: Set(empty), within: width)
    }

    private func cell(_ column: Int, in row: [Cell]) -> Cell? { row.indices.contains(column) ? row[column] : nil }

    private func lines(_ layout: TextTableLayout, _ coloured: Bool) -> [String] {
        let headings = columns.map { Cell($0.title, colour: .bold) }
        return ([headings] + rows).map { line(of: $0, layout, coloured) }
    }

    private func line(of cells: [Cell], _ layout: TextTableLayout, _ coloured: Bool) -> String {
        var line = ""
        for column in layout.shown {
            let cell = cell(column, in: cells) ?? ""
            let shown = cell.text.onOneLine(atMost: layout.widths[column])
            let padding = String(repeating: " ", count: max(0, layout.widths[column] - shown.count))
            let text = cell.colour?.painted(shown, on: coloured) ?? shown
            let isLast = column == layout.shown.last
            switch columns[column].alignment {
            case .right: line += padding + text
            case .left: line += isLast ? text : text + padding
            }
            if !isLast { line += TextTableLayout.gap }
        }
        return line
    }
}
