import Errand

/// What is going to happen, by time; things of one time happen in the order in which they were planned.
struct Agenda {
    enum Event {
        case produce, fault, outage, operate, snapshot, changeRule, decideAboutDead
        case wake(Int, Int)
        case restart(Int)
        case request(Message)
        case answer(Message, Answer)
        case pushAnswered(String)
        case wakeUp(WakeUp, worker: Int, life: Int)
    }

    /// A worker's command on its way.
    struct Message {
        var worker: Int
        var life: Int
        var command: Command
    }

    private var entries: [(time: Time, number: Int, event: Event)] = []
    private var planned = 0

    mutating func add(_ event: Event, at time: Time) {
        planned += 1
        // Latest first, so that the next is taken from the end.
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].time > time { low = middle + 1 } else { high = middle }
        }
        entries.insert((time, planned, event), at: low)
    }

    mutating func next() -> (Time, Event)? { entries.popLast().map { ($0.time, $0.event) } }
}
