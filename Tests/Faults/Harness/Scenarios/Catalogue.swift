extension Scenario {
    /// Every scenario, by its number.
    static let all: [Scenario] = (workers + network + server + data + channels + schedulers).sorted { $0.id < $1.id }

    private static let workers =
        killedWorkers + crashPoints + consoleCrashes + busyWorkers + stoppedWorkers + leavingWorkers + starvedWorkers
        + crowds + steadyWorkers + flowControl + workflows
    private static let data = storms + mixedStorms + garbage + descriptions + largeJobs
    private static let network =
        lostAnswers + partitions + cutOff + badLines + lostConnections + movedServers + wrongAnswers
        + wrongServers
    private static let server =
        restarts + frozenServers + lostData + slowLoading + fullDisks
        + fullMemory + vanishedKeys + corruptKeys + forgottenScripts + failovers + clusters + jumpingClocks
}
