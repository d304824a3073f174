import Errand
import ErrandOperator
import Foundation

/// The tabs above a list of jobs: one for each state, with the number of jobs where it is known cheaply.
struct JobTabs {
    let counts: JobCounts
    let wanted: JobsRequest
    let base: String

    var values: [[String: Any]] {
        [tab("Unfinished and dead", nil, JobSearch.unfinished)]
            + JobsRequest.states.map { tab($0.rawValue.capitalized, $0, [$0]) }
    }

    private func tab(_ title: String, _ state: JobState?, _ states: [JobState]) -> [String: Any] {
        let count = counts.count(of: states)
        return [
            "title": title, "isHere": state == wanted.state, "place": base + wanted.place(in: state),
            "counts": count.map { [["count": $0.grouped, "isZero": $0 == 0, "isBad": state == .dead && $0 > 0]] } ?? [],
        ]
    }
}
