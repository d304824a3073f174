import Testing

@testable import Errand

/// When a worker has its claims compared with the broker's one by one.
@Suite("The account of claims")
struct ClaimAccountTests {
    private var account = ClaimAccount()

    /// A call that was answered at once.
    private mutating func call(reports: Int = 0, wanted: Int = 1, claims: Int = 0, known: Int) {
        account.begin(reports: reports, wanted: wanted)
        account.end(claims: claims)
        account.note(known: known)
    }

    @Test("what rests and is the same needs no comparing")
    mutating func rests() {
        account.note(known: 3)
        account.note(beat: 3, known: 3)
        for _ in 0..<10 {
            call(known: 3)
            account.note(beat: 3, known: 3)
            #expect(!account.isInDoubt)
        }
    }

    @Test("another number counts when it is told twice", arguments: [2, 4])
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

    @Test("a worker that never rests is compared every other beat, though the numbers fit")
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

    @Test("a call under way proves nothing")
    mutating func underWay() {
        account.begin(reports: 0, wanted: 8)
        account.note(beat: 0, known: 0)
        account.note(beat: 0, known: 0)
        #expect(account.isInDoubt)
        account.end(claims: 0)
        account.note(beat: 0, known: 0)
        #expect(!account.isInDoubt)
    }

    @Test("claims that came and went between two beats leave no proof")
    mutating func cameAndWent() {
        for _ in 0..<2 {
            account.note(known: 1)
            account.note(known: 0)
            account.note(beat: 0, known: 0)
        }
        #expect(account.isInDoubt)
    }
}
