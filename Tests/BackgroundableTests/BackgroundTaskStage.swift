import Foundation

@testable import Backgroundable

/// Separate background tasks, for which a process would exit.
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

    /// The work of the signal's thread.
    func terminate() {
        Thread { [tasks] in tasks.terminate() }.start()
    }

    func note(_ line: String) {
        log.change { $0.append(line) }
    }
}
