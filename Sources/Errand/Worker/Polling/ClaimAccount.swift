/// Compares the number of claims that the broker has for a session with the number that its worker has.
///
/// The two are never counted at the same moment: a call may be in progress, and the reply to a beat is old when it
/// arrives. So a beat proves that they agree only if nothing has changed since the previous beat. After two beats in a
/// row without a proof the claims are compared one by one: either something is wrong, or the worker is so busy that the
/// numbers prove nothing.
struct ClaimAccount {
    private static let beatsThatTell = 2

    private var isSteady = true
    private var isAsking = false
    private var known = 0
    private var beatsInDoubt = 0

    /// Whether the claims of broker and worker must be compared one by one.
    var isInDoubt: Bool { beatsInDoubt >= Self.beatsThatTell }

    /// Notes that a call begins: the broker may or may not have accepted its reports and claimed jobs already.
    mutating func begin(reports: Int, wanted: Int) {
        isAsking = wanted > 0
        if reports > 0 { isSteady = false }
    }

    /// Notes that a call has returned this number of claims.
    mutating func end(claims: Int) {
        isAsking = false
        if claims > 0 { isSteady = false }
    }

    /// Notes the number of claims that the worker has.
    mutating func note(known now: Int) {
        if now != known { isSteady = false }
        known = now
    }

    /// Notes the number of claims that the broker has, from the reply to a beat.
    mutating func note(beat claims: Int, known now: Int) {
        note(known: now)
        beatsInDoubt = isSteady && !isAsking && claims == now ? 0 : beatsInDoubt + 1
        isSteady = true
    }

    /// Notes that the claims are being compared one by one.
    mutating func reset(known now: Int) {
        beatsInDoubt = 0
        isSteady = true
        known = now
    }
}
