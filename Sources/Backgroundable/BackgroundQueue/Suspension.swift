/// Why a background queue starts no operations.
struct Suspension {
    /// How often it has been suspended and not resumed.
    var depth = 0
    /// How many cancellations of several operations are being decided on.
    var holds = 0

    var isInEffect: Bool {
        depth > 0 || holds > 0
    }
}
