import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Makes ids for jobs: 26 characters, ordered by time, unique across threads, processes and machines.
///
/// An id is 128 bits in Crockford's base 32: 48 bits of milliseconds since 1970, a counter of 16 bits that begins at 0
/// in every millisecond, and 64 random bits of this process. Ids of one process grow strictly, even if the clock is set
/// back: then the counter continues from the last id. They are unique, not secret.
public enum JobIDGenerator: Sendable {
    /// The milliseconds and counter of the last id in one number, so that taking the next is one atomic step.
    private static let last = Atomic<UInt64>(0)
    private static let ofProcess = UInt64.random(in: .min ... .max)

    /// Returns the next id, such as `01KA9ZK9M00001H9J4V5Q6ZBHW`. Can be called from any thread.
    public static func next() -> String {
        text(high: nextTick(), low: ofProcess)
    }

    private static func nextTick() -> UInt64 {
        let now = millisecondsNow() << 16
        var previous = last.load(ordering: .relaxed)
        while true {
            let next = max(now, previous &+ 1)
            let (won, found) = last.weakCompareExchange(expected: previous, desired: next, ordering: .relaxed)
            if won { return next }
            previous = found
        }
    }

    private static func millisecondsNow() -> UInt64 {
        var time = timespec()
        guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        let milliseconds = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return UInt64(clamping: milliseconds) & 0xFFFF_FFFF_FFFF
    }
}

extension JobIDGenerator {
    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    /// Returns when an id was made, in milliseconds since 1970 UTC; `nil` for an id that this does not make.
    package static func time(of id: String) -> Int64? {
        guard id.utf8.count == 26 else { return nil }
        var time: Int64 = 0
        for (index, character) in id.utf8.enumerated() {
            guard let digit = digit(of: character), index > 0 || digit < 8 else { return nil }
            if index < 10 { time = time << 5 | Int64(digit) }
        }
        return time
    }

    private static func digit(of character: UInt8) -> Int? {
        (0..<32).first { alphabet.utf8Start[$0] == character }
    }

    /// Returns 128 bits as 26 characters of five bits each; the first has only three.
    static func text(high: UInt64, low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 26) { characters in
            var (high, low) = (high, low)
            for index in stride(from: 25, through: 0, by: -1) {
                characters[index] = alphabet.utf8Start[Int(low & 31)]
                low = low >> 5 | high << 59
                high >>= 5
            }
            return 26
        }
    }
}
