/// The waits between attempts to connect: full jitter up to a ceiling that doubles from 50 ms to 2 s.
struct Backoff {
    private var ceiling = 0.05

    mutating func next() -> Double {
        defer { ceiling = min(ceiling * 2, 2) }
        return Double.random(in: 0.01...max(ceiling, 0.02))
    }

    mutating func reset() { ceiling = 0.05 }
}
