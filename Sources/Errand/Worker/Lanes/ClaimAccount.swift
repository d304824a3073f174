/// Compares how many claims the broker keeps of a session with how many its worker knows of.
///
/// The two are never counted at the same moment: a call may be under way, and a beat's answer is old when it comes. So the
/// worker keeps the most and the fewest that it can have known since the last beat; only what is outside of that twice in a
/// row is a difference.
struct ClaimAccount {
    private static let beatsThatTell = 2

    private var most = 0
    private var fewest = 0
    private var underWay = (reports: 0, wanted: 0)
    private var strangeBeats = 0

    /// Whether the broker and the worker must be compared claim by claim.
    var differs: Bool { strangeBeats >= Self.beatsThatTell }

    /// A call begins: the broker may already have taken its reports, or not, and given as many claims as were wanted.
    mutating func begin(known: Int, reports: Int, wanted: Int) {
        underWay = (reports, wanted)
        note(known: known)
    }

    /// The call was answered and its claims are known.
    mutating func end(known: Int) {
        note(known: known)
        underWay = (0, 0)
    }

    /// How many claims the worker knows has changed.
    mutating func note(known: Int) {
        most = max(most, known + underWay.reports)
        fewest = min(fewest, known)
    }

    /// A beat has told how many claims the broker keeps.
    mutating func note(beat claims: Int, known: Int) {
        note(known: known)
        strangeBeats = claims > most + underWay.wanted || claims < fewest ? strangeBeats + 1 : 0
        most = known + underWay.reports
        fewest = known
    }

    /// The two were compared.
    mutating func reset(known: Int) {
        strangeBeats = 0
        most = known
        fewest = known
    }
}
