import ErrandOperator
import Testing

/// What errors have in common.
@Suite struct ErrorPatternTests {
    @Test(arguments: [
        ("timeout after 30 s", "timeout after # s"),
        ("  first line \nsecond 2", "first line"),
        ("job 01KA9ZK9M00001H9J4V5Q6ZBHW failed", "job # failed"),
        ("no user 6f1c2b9e-0000-4bef-beef-abcdefabcdef here", "no user # here"),
        ("no user 6F1C2B9E-0000-4BEF-BEEF-ABCDEFABCDEF", "no user #"),
        ("pointer 0xdeadbeef, 0x1", "pointer #, #"),
        ("commit deadbee5 is missing", "commit # is missing"),
        ("the facade is defaced", "the facade is defaced"),
        ("report7.pdf of report12", "report#.pdf of report#"),
        ("10.0.0.1:6379 refused at 12:30:05.123", "# refused at #"),
        ("a\t\tb  c", "a b c"),
        ("", ErrorPattern.none),
        ("  \n", ErrorPattern.none),
        ("Zoë: 5 €", "Zoë: # €"),
    ]) func `numbers, ids and addresses are one sign`(_ error: String, _ pattern: String) {
        #expect(ErrorPattern.of(error) == pattern)
    }

    @Test func `a job without an error has a pattern of its own`() {
        #expect(ErrorPattern.of(nil) == ErrorPattern.none)
    }

    @Test func `patterns are short, and a pattern is its own pattern`() {
        let long = ErrorPattern.of(String(repeating: "wörter und 12 mehr ", count: 1000))
        #expect(long.count == 200)
        for pattern in [long, "timeout after # s", "# refused at #"] { #expect(ErrorPattern.of(pattern) == pattern) }
    }
}
