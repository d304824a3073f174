// Stands for a server in tests that is really terminated. Its argument selects what it does before it prints "ready";
// it then prints a line for each event.
//
// `errand-termination-probe rate` instead prints the cost of a task.
import Backgroundable
import Foundation

let tasks = BackgroundTasks.shared
tasks.onTermination { say("announced \(Int($0.rounded()))") }

/// Prints without a buffer, which could be lost or need a lock.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

func block() -> Never {
    while true { pause() }
}

/// Idle after work.
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

/// Has two seconds for running and waiting operations.
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

/// Works in a background queue that does not delay the exit.
func fillAQueueThatHoldsNothing() {
    beIdle()
    OperationQueue.background.holdsBackgroundTask = false
    fillTheQueue()
}

/// Has two seconds, in which everything is blocked.
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

/// Handles the signal itself after the tasks did; a later change does not affect it.
func handleLater() {
    _ = tasks.beginBackgroundTask()
    signal(SIGTERM) { _ in _exit(3) }
    tasks.leavesOnTermination = false
}

/// Handles the signal after the tasks did, like most server frameworks.
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

/// Runs a program without signal handlers, and prints how it ended.
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

/// Has a child that runs the same program, and prints how it ended.
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
