import Foundation

@testable import Backgroundable

/// Background tasks of their own, for which a process would leave.
struct BackgroundTaskStage {
    let departures = Box<[ProcessExit]>([])
    let left = Signal()
    let log = Box<[String]>([])
    let tasks: BackgroundTasks

    init(grace: TimeInterval = 3_600, lead: TimeInterval = 0) {
        tasks = BackgroundTasks { [departures, left] departure, _ in
            departures.change { $0.append(departure) }
            left.fire()
        }
        tasks.grace = grace
        tasks.expirationLead = lead
    }

    /// What the signal's thread does.
    func terminate() {
        Thread { [tasks] in tasks.terminate() }.start()
    }

    func note(_ line: String) {
        log.change { $0.append(line) }
    }
}
