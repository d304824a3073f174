/// Rows of text with headings and aligned columns.
package struct TextTable: Sendable {
    /// The alignment of a column.
    package enum Alignment: Sendable {
        /// Left-aligned, for text.
        case left
        /// Right-aligned, for numbers.
        case right
    }

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
    }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[Cell]] = []

    /// Makes a table without rows.
    package init(_ columns: [(title: String, alignment: Alignment)]) { self.columns = columns }

    /// Adds a row with one cell a column.
    package mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// Returns the lines of the table, headings first.
    package func lines(coloured: Bool = Terminal.takesColours) -> [String] {
        let headings = columns.map { Cell($0.title, colour: .bold) }
        let widths = columns.indices.map { column in
            ([headings] + rows).map { $0.indices.contains(column) ? $0[column].text.count : 0 }.max() ?? 0
        }
        return ([headings] + rows).map { line(of: $0, widths, coloured) }
    }

    private func line(of cells: [Cell], _ widths: [Int], _ coloured: Bool) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() where index < columns.count {
            let padding = String(repeating: " ", count: widths[index] - cell.text.count)
            let text = cell.colour?.painted(cell.text, on: coloured) ?? cell.text
            let isLast = index == cells.count - 1
            switch columns[index].alignment {
            case .right: line += padding + text
            case .left: line += isLast ? text : text + padding
            }
            if !isLast { line += "  " }
        }
        return line
    }

    /// Writes the table to standard output.
    package func print() {
        for line in lines() { StandardOutput.write(line) }
    }
}
