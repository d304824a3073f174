/// Compares how many claims the broker keeps of a session with how many its worker knows of.
///
/// The two are never counted at the same moment: a call may be under way, and a beat's answer is old when it comes. So a beat
/// proves that they agree only where nothing has changed since the beat before. Two beats in a row without a proof are a
/// reason to compare claim by claim: either something is wrong, or the worker has so much to do that nobody could tell.
struct ClaimAccount {
    private static let beatsThatTell = 2

    private var isSteady = true
    private var isAsking = false
    private var known = 0
    private var beatsInDoubt = 0

    /// Whether the broker and the worker must be compared claim by claim.
    var isInDoubt: Bool { beatsInDoubt >= Self.beatsThatTell }

    /// A call begins: the broker may already have taken its reports, or not, and given jobs, or not.
    mutating func begin(reports: Int, wanted: Int) {
        isAsking = wanted > 0
        if reports > 0 { isSteady = false }
    }

    /// The call was answered with so many claims.
    mutating func end(claims: Int) {
        isAsking = false
        if claims > 0 { isSteady = false }
    }

    /// How many claims the worker knows may have changed.
    mutating func note(known now: Int) {
        if now != known { isSteady = false }
        known = now
    }

    /// A beat has told how many claims the broker keeps.
    mutating func note(beat claims: Int, known now: Int) {
        note(known: now)
        beatsInDoubt = isSteady && !isAsking && claims == now ? 0 : beatsInDoubt + 1
        isSteady = true
    }

    /// The two are being compared.
    mutating func reset(known now: Int) {
        beatsInDoubt = 0
        isSteady = true
        known = now
    }
}
