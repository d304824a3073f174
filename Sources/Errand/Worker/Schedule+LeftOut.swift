import Foundation

extension Schedule {
    /// Describes why the broker did not store this definition, and what to do.
    ///
    /// - Parameters:
    ///   - stored: the schedule that is stored under the name, if there is one.
    ///   - revision: its revision, or the revision that it had when it was deleted.
    func leftOut(for stored: ScheduleRecord?, _ revision: Int) -> String {
        let subject = "schedule \"\(name)\" of queue \"\(queue)\""
        let place = origin.catalogue ?? "the program"
        guard let stored else {
            return
                "\(subject) is left out, because a person has deleted it; remove it from \(place), or raise its revision "
                + "above \(revision) to bring it back"
        }
        guard let edited = stored.schedule?.origin.edited else {
            return
                "\(subject) is left as it is: revision \(revision) is stored, which is higher than \(self.revision) in \(place); "
                + "to change it, raise the revision there above \(revision)"
        }
        let date = Date(timeIntervalSince1970: Double(edited / 1000)).formatted(Date.ISO8601FormatStyle())
        return "\(subject) is left as a person has changed it at \(date); write the change into \(place), or raise the "
            + "revision there above \(revision) to undo it"
    }
}
