// Stands for a server in tests, to be really terminated. Its argument says what it does before it says "ready"; then it
// only prints a line for each thing that happens to it.
//
// `errand-termination-probe rate` instead prints what a task costs.
import Backgroundable
import Foundation

let tasks = BackgroundTasks.shared
tasks.onTermination { say("announced \(Int($0.rounded()))") }

/// Prints without a buffer that would be lost, or that a lock would be needed for.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

func block() -> Never {
    while true { pause() }
}

/// Has worked, and has nothing to do.
func beIdle() {
    atexit { say("exit handlers run") }
    tasks.endBackgroundTask(tasks.beginBackgroundTask())
}

/// Works until its input ends.
func beBusy() {
    let task = tasks.beginBackgroundTask(withName: "busy")
    Thread {
        while readLine() != nil {}
        say("done")
        tasks.endBackgroundTask(task)
    }.start()
}

/// Works in a background queue until its input ends.
func fillTheQueue() {
    inTheBackground {
        while readLine() != nil {}
        say("done")
    }
}

/// Has two seconds for operations that go on, and that wait behind them.
func overfillTheQueue() {
    tasks.grace = 2
    tasks.expirationLead = 1.9
    OperationQueue.background.maxConcurrentOperationCount = 1
    let operations = [AsyncOperation(timeout: 0) { _ in }, AsyncOperation(timeout: 0) { _ in }]
    for (number, operation) in operations.enumerated() {
        operation.addObserver(CancelledObserver { _ in say("cancelled \(number)") })
        OperationQueue.background.addOperation(operation)
    }
}

/// Works in a background queue that is not worth waiting for.
func fillAQueueThatHoldsNothing() {
    beIdle()
    OperationQueue.background.holdsBackgroundTask = false
    fillTheQueue()
}

/// Has two seconds, in which everything that can be blocked is.
func beStuck() {
    tasks.grace = 2
    tasks.expirationLead = 1
    atexit { block() }
    for _ in 0..<128 { DispatchQueue.global().async { block() } }
    for _ in 0..<8 { Task.detached { block() } }
    _ = tasks.beginBackgroundTask { say("expired first") }
    _ = tasks.beginBackgroundTask {
        say("expired second")
        block()
    }
}

func declineBefore() {
    tasks.leavesOnTermination = false
    _ = tasks.beginBackgroundTask()
}

func declineAfter() {
    _ = tasks.beginBackgroundTask()
    tasks.leavesOnTermination = false
}

func declineForAWhile() {
    declineAfter()
    tasks.leavesOnTermination = true
    beBusy()
    tasks.grace = 1
}

/// Handles the signal itself, before anything else does.
func handle() {
    signal(SIGTERM) { _ in _exit(3) }
    _ = tasks.beginBackgroundTask()
}

/// Handles the signal itself after the tasks did; a later change of mind leaves it alone.
func handleLater() {
    _ = tasks.beginBackgroundTask()
    signal(SIGTERM) { _ in _exit(3) }
    tasks.leavesOnTermination = false
}

/// Handles the signal after the tasks did, as most servers' frameworks do.
func handleWithSource() {
    _ = tasks.beginBackgroundTask()
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    let isSet = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isSet.signal() }
    source.setEventHandler {
        source.cancel()
        _exit(3)
    }
    source.resume()
    isSet.wait()
}

/// Runs a program that knows nothing of signals, and says how it ended.
func beParent() {
    _ = tasks.beginBackgroundTask()
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["3600"]
    child.terminationHandler = { child in
        say("child ended by \(child.terminationReason == .uncaughtSignal ? "signal" : "itself")")
    }
    do {
        try child.run()
    } catch {
        say("\(error)")
        exit(2)
    }
    say("child \(child.processIdentifier)")
}

/// Has a child that runs the same program, and says how it ended.
func forkItself() {
    _ = tasks.beginBackgroundTask()
    let child = fork()
    if child == 0 { block() }
    say("child \(child)")
    Thread {
        var status: Int32 = 0
        waitpid(child, &status, 0)
        say("child ended by \(status & 0x7F == SIGTERM ? "signal" : "itself")")
    }.start()
}

func printRate() -> Never {
    let count = 5_000_000
    for threads in [1, 2] {
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            for _ in 0..<count { tasks.endBackgroundTask(tasks.beginBackgroundTask(withName: "rate") {}) }
        }
        say("\(threads) at once: \((ContinuousClock.now - start) / .nanoseconds(1) / Double(count)) ns a task")
    }
    exit(0)
}

switch CommandLine.arguments.dropFirst().first {
case "untouched": break
case "idle": beIdle()
case "busy": beBusy()
case "queue": fillTheQueue()
case "queue-overfull": overfillTheQueue()
case "queue-without-hold": fillAQueueThatHoldsNothing()
case "stuck": beStuck()
case "declining-before": declineBefore()
case "declining-after": declineAfter()
case "declining-for-a-while": declineForAWhile()
case "handling": handle()
case "handling-later": handleLater()
case "handling-with-source": handleWithSource()
case "parent": beParent()
case "forking": forkItself()
case "rate": printRate()
default: exit(2)
}
say("ready")
block()
