import Errand
import ErrandOperator

/// A workflow's graph as SVG. Each job is a link to its page.
///
/// Edges run between the rows and columns and never behind a job. Those of one job have a line of their own in the
/// space below it, so that they can be told from those of the jobs beside it.
struct WorkflowDrawing {
    private static let (width, height) = (168, 44)
    private static let (columnGap, rowGap) = (32, 46)
    private static let (side, edge) = (28, 12)
    /// The characters of a key that fit into a job.
    private static let shownOfKey = 21

    let jobs: [WorkflowView.Job]
    let layout: WorkflowLayout
    /// The path of the overview.
    let base: String

    /// Makes the drawing of jobs, which are in the order of their numbers.
    init(_ jobs: [WorkflowView.Job], base: String) {
        self.jobs = jobs
        self.base = base
        layout = WorkflowLayout(jobs)
    }

    /// The drawing. The jobs come layer by layer, which is also their order for the keyboard.
    var svg: String {
        let width = 2 * Self.side + layout.columns * (Self.width + Self.columnGap) - Self.columnGap
        let height = 2 * Self.edge + layout.rows * (Self.height + Self.rowGap) - Self.rowGap
        let order = jobs.indices.sorted {
            (layout.places[$0].row, layout.places[$0].column) < (layout.places[$1].row, layout.places[$1].column)
        }
        return """
            <svg width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" role="group" \
            aria-label="Graph of the jobs"><defs>\(Self.tip)</defs>
            <g marker-end="url(#tip)">\(layout.edges.map(path).joined())</g>
            <g>\(order.map(node).joined(separator: "\n"))</g></svg>
            """
    }

    /// The tip of every edge.
    private static let tip = """
        <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" \
        markerUnits="userSpaceOnUse" orient="auto">\
        <path d="M0 0L8 4L0 8z"/></marker>
        """

    private func left(_ column: Int) -> Int { Self.side + column * (Self.width + Self.columnGap) }

    private func top(_ row: Int) -> Int { Self.edge + row * (Self.height + Self.rowGap) }

    /// Returns the path of an edge: down into the space below the first job, to the side, if necessary down beside the
    /// column of the second one, and into its top.
    private func path(_ edge: WorkflowLayout.Edge) -> String {
        let (from, to) = (layout.places[edge.from], layout.places[edge.to])
        let lane = from.column % WorkflowLayout.mostColumns
        func space(below row: Int) -> Int { top(row) + Self.height + 8 + 5 * lane }
        let (x, end) = (left(from.column) + Self.width / 2, left(to.column) + Self.width / 2)
        var path = "M\(x) \(top(from.row) + Self.height)"
        if to.row == from.row + 1 {
            if x != end { path += "V\(space(below: from.row))H\(end)" }
        } else {
            // On the side of the first job.
            let beside = 6 + 4 * (lane % 5)
            let channel = from.column > to.column ? left(to.column) + Self.width + beside : left(to.column) - beside
            path += "V\(space(below: from.row))H\(channel)V\(space(below: to.row - 1))H\(end)"
        }
        let style = edge.condition == .success ? "" : #" class="\#(edge.condition.rawValue)""#
        return #"<path\#(style) data-edge="\#(edge.from) \#(edge.to)" d="\#(path)V\#(top(to.row))"/>"#
    }

    private func node(_ number: Int) -> String {
        let (job, cell) = (jobs[number], layout.places[number])
        let (x, y) = (left(cell.column), top(cell.row))
        let texts = WorkflowJobRow(job: job)
        let state = job.member.state
        let title = EscapedHTML.escape("\(job.member.key): \(state.rawValue)\(texts.title)")
        let key = EscapedHTML.escape(Self.shortened(job.member.key))
        let place = EscapedHTML.escape(base + texts.place)
        return """
            <a href="\(place)" class="\(state.rawValue)" data-job="\(number)"><title>\(title)</title>\
            <rect x="\(x)" y="\(y)" width="\(Self.width)" height="\(Self.height)" rx="7"/>\
            <text class="key" x="\(x + 9)" y="\(y + 18)">\(key)</text>\
            <text x="\(x + 9)" y="\(y + 35)">\(Self.sign(of: state))\(state.rawValue)</text></a>
            """
    }

    /// Returns a key without its middle if it is too long: keys often differ only at the end.
    private static func shortened(_ key: String) -> String {
        guard key.count > shownOfKey else { return key }
        return "\(key.prefix(shownOfKey / 2))…\(key.suffix(shownOfKey - shownOfKey / 2 - 1))"
    }

    /// The sign before a state that matters most. All states are written out, too.
    private static func sign(of state: JobState) -> String {
        switch state {
        case .finished: "✓ "
        case .dead: "✕ "
        case .running: "▶ "
        case .retrying: "↻ "
        case .ready, .scheduled, .deferred, .blocked, .cancelled, .replaced, .expired, .skipped, .deleted: ""
        }
    }
}
