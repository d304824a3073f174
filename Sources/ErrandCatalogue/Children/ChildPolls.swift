import Foundation

/// The descriptors that the children's thread polls, and the meaning of each.
struct ChildPolls {
    enum Role {
        case input, output, error, ending
    }

    private var descriptors: [pollfd] = []
    private var places: [(id: ChildRequest.ID, role: Role)] = []
    private var hasReaper = false

    /// Resets the list to the permanent descriptors.
    mutating func reset(mailbox: Int32, reaper: Int32?) {
        descriptors.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        descriptors.append(pollfd(fd: mailbox, events: Int16(POLLIN), revents: 0))
        hasReaper = reaper != nil
        // No events are requested: `poll` always reports errors, and ignores negative numbers.
        descriptors.append(pollfd(fd: reaper ?? -1, events: 0, revents: 0))
    }

    mutating func add(_ interest: RunningChild.Interest, of id: ChildRequest.ID) {
        add(interest.input, POLLOUT, id, .input)
        add(interest.output, POLLIN, id, .output)
        add(interest.error, POLLIN, id, .error)
        add(interest.ending, POLLIN, id, .ending)
    }

    private mutating func add(_ number: Int32?, _ events: Int32, _ id: ChildRequest.ID, _ role: Role) {
        guard let number else { return }
        descriptors.append(pollfd(fd: number, events: Int16(events), revents: 0))
        places.append((id, role))
    }

    /// Waits until a descriptor is ready or the time is over; without a time, indefinitely.
    mutating func wait(for time: Duration?) {
        let milliseconds = time.map { time -> Int32 in
            let (seconds, attoseconds) = max(time, .zero).components
            // Rounded up, because the thread would otherwise spin during the last millisecond.
            return Int32(min(seconds, 3_600) * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1) < 0 {
            // Interrupted: the list still has its initial state, in which no descriptor is ready.
            return
        }
    }

    /// Whether a message may have come. Of one that has come since, the next wait learns.
    var mailIsReady: Bool { descriptors[0].revents != 0 }
    var reaperIsGone: Bool { hasReaper && descriptors[1].revents != 0 }

    func forEachReady(_ body: (ChildRequest.ID, Role) -> Void) {
        for (descriptor, place) in zip(descriptors.dropFirst(2), places) where descriptor.revents != 0 {
            body(place.id, place.role)
        }
    }
}
