/// Why a background queue starts no operations.
struct Suspension {
    /// How often it has been suspended and not resumed.
    var depth = 0
    /// How many cancellations of several operations are being decided on.
    var holds = 0

    /// Whether the queue goes on although it is suspended, because the process is about to leave.
    var isOver = false

    var isInEffect: Bool {
        depth > 0 && !isOver || holds > 0
    }
}
