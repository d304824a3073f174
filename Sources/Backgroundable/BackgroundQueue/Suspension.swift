/// The reasons why a background queue starts no operations.
struct Suspension {
    /// The number of suspensions without a matching resume.
    var depth = 0
    /// The number of cancellation sweeps that currently hold starts.
    var holds = 0

    /// Whether the queue runs although it is suspended, because its background task has expired.
    var isOver = false

    var isInEffect: Bool {
        depth > 0 && !isOver || holds > 0
    }
}
