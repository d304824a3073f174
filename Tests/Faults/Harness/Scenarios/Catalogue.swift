extension Scenario {
    /// Every scenario, by its number.
    static let all: [Scenario] = (workers + network + server).sorted { $0.id < $1.id }

    private static let workers = killedWorkers + stoppedWorkers
    private static let network =
        lostAnswers + partitions + cutOff + badLines + lostConnections + movedServers + wrongAnswers
        + wrongServers
    private static let server =
        restarts + frozenServers + lostData + slowLoading + fullDisks
        + fullMemory + vanishedKeys + forgottenScripts + failovers + jumpingClocks
}
