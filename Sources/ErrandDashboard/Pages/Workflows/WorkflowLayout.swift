import Errand
import ErrandOperator

/// The places of a workflow's jobs in a drawing: layers from top to bottom, of which wide ones have several rows.
struct WorkflowLayout {
    /// The place of a job.
    struct Place: Equatable {
        /// The row, from 0 at the top.
        var row = 0
        /// The column, from 0 on the left.
        var column = 0
    }

    /// A job that comes after another one.
    struct Edge: Equatable {
        /// The number of the job that must end first.
        let from: Int
        /// The number of the job that comes after it.
        let to: Int
        /// How the first one must end.
        let condition: WorkflowCondition
    }

    /// The largest number of jobs that are drawn.
    static let mostJobs = 1000
    /// The largest number of edges that are drawn.
    static let mostEdges = 3000
    /// The largest number of jobs in a row: as many as fit on a desktop without scrolling.
    static let mostColumns = 6

    /// The number of columns; 0 without jobs.
    let columns: Int
    /// The number of rows.
    private(set) var rows = 0
    /// The places of the jobs by their numbers.
    private(set) var places: [Place]
    /// The edges. Needs that the workflow does not have, which corrupt data may contain, have none.
    let edges: [Edge]

    /// Arranges the jobs, which are in the order of their numbers.
    init(_ jobs: [WorkflowView.Job]) {
        let numbers = Dictionary(jobs.enumerated().map { ($1.member.key, $0) }) { first, _ in first }
        edges = jobs.enumerated().flatMap { number, job in
            job.member.needs.compactMap { need in
                numbers[need.key].map { Edge(from: $0, to: number, condition: need.condition) }
            }
        }
        let layers = Dictionary(grouping: jobs.indices) { jobs[$0].depth }.sorted { $0.key < $1.key }.map(\.value)
        columns = min(layers.map(\.count).max() ?? 0, Self.mostColumns)
        places = Array(repeating: Place(), count: jobs.count)
        let needs = Dictionary(grouping: edges, by: \.to).mapValues { $0.map(\.from) }
        for layer in layers { place(layer, needs) }
    }

    /// Places the jobs of a layer below those before it, each as near to the middle of its needs as there is room.
    private mutating func place(_ layer: [Int], _ needs: [Int: [Int]]) {
        let wanted = layer.enumerated().map { index, number in
            let needed = (needs[number] ?? []).map { Double(places[$0].column) }
            // Without needs, jobs keep their order, and are in the middle.
            let middle = Double((columns - layer.count) / 2 + index)
            return (number: number, column: needed.isEmpty ? middle : needed.reduce(0, +) / Double(needed.count))
        }
        let sorted = wanted.sorted { ($0.column, $0.number) < ($1.column, $1.number) }
        let isOneRow = layer.count <= columns
        let inRow = isOneRow ? Self.columns(nearTo: sorted.map(\.column), of: columns) : []
        for (index, job) in sorted.enumerated() {
            let column = isOneRow ? inRow[index] : index % columns
            places[job.number] = Place(row: rows + index / columns, column: column)
        }
        rows += (layer.count + columns - 1) / columns
    }

    /// Returns different columns in ascending order for wanted ones: halfway between the places that jobs get when they
    /// move to the right to make room, and when they move to the left.
    static func columns(nearTo wanted: [Double], of columns: Int) -> [Int] {
        let wanted = wanted.map { Int($0.rounded()) }
        var (right, left) = (wanted, wanted)
        for index in wanted.indices.dropFirst() { right[index] = max(right[index], right[index - 1] + 1) }
        for index in wanted.indices.dropLast().reversed() { left[index] = min(left[index], left[index + 1] - 1) }
        return wanted.indices.map { index in
            // The sum is negative if jobs have moved far to the left.
            let middle = (right[index] + left[index]) >> 1
            return min(max(middle, index), columns - wanted.count + index)
        }
    }
}
