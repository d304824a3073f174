import Testing

@testable import Errand

/// When a worker reconciles its claims with the broker's.
@Suite("ClaimAccount")
struct ClaimAccountTests {
    private var account = ClaimAccount()

    /// A call with an immediate reply.
    private mutating func call(reports: Int = 0, wanted: Int = 1, claims: Int = 0, known: Int) {
        account.begin(reports: reports, wanted: wanted)
        account.end(claims: claims)
        account.note(known: known)
    }

    @Test("idle sessions with matching counts need no reconciliation")
    mutating func rests() {
        account.note(known: 3)
        account.note(beat: 3, known: 3)
        for _ in 0..<10 {
            call(known: 3)
            account.note(beat: 3, known: 3)
            #expect(!account.isInDoubt)
        }
    }

    @Test("a different count matters when it is reported twice", arguments: [2, 4])
    mutating func differs(claims: Int) {
        account.note(known: 3)
        for _ in 0..<2 { account.note(beat: 3, known: 3) }
        account.note(beat: claims, known: 3)
        #expect(!account.isInDoubt)
        account.note(beat: 3, known: 3)
        account.note(beat: claims, known: 3)
        #expect(!account.isInDoubt)
        account.note(beat: claims, known: 3)
        #expect(account.isInDoubt)
        account.reset(known: 3)
        #expect(!account.isInDoubt)
    }

    @Test("a busy worker reconciles every other heartbeat even if the counts match")
    mutating func neverRests() {
        account.note(beat: 0, known: 0)
        for _ in 0..<5 {
            call(claims: 1, known: 1)
            account.note(beat: 1, known: 1)
            #expect(!account.isInDoubt)
            call(reports: 1, wanted: 0, known: 1)
            account.note(beat: 1, known: 1)
            #expect(account.isInDoubt)
            account.reset(known: 1)
        }
    }

    @Test("a call in progress proves nothing")
    mutating func underWay() {
        account.begin(reports: 0, wanted: 8)
        account.note(beat: 0, known: 0)
        account.note(beat: 0, known: 0)
        #expect(account.isInDoubt)
        account.end(claims: 0)
        account.note(beat: 0, known: 0)
        #expect(!account.isInDoubt)
    }

    @Test("claims that were made and ended between two heartbeats prove nothing")
    mutating func cameAndWent() {
        for _ in 0..<2 {
            account.note(known: 1)
            account.note(known: 0)
            account.note(beat: 0, known: 0)
        }
        #expect(account.isInDoubt)
    }
}
