import ErrandOperator

/// The result of the demo.
struct DemoResult: Sendable {
    var files = 0
    var accepted = 0
    var dropped = 0
    var finished = 0
    var timedOut = 0
    var recovered = 0
    var lost = 0
    var wrong = 0
    var jobsPerSecond = 0

    /// The result as JSON on one line.
    var json: String {
        """
        {"files":\(files),"accepted":\(accepted),"dropped":\(dropped),"finished":\(finished),"timed_out":\(timedOut),\
        "recovered":\(recovered),"lost":\(lost),"wrong":\(wrong),"jobs_per_second":\(jobsPerSecond)}
        """
    }

    /// The failures; empty if the demo showed everything that it should.
    var complaints: [String] {
        var complaints: [String] = []
        if lost > 0 { complaints.append("\(lost.counted("accepted job")) did not end properly") }
        if wrong > 0 { complaints.append("\(wrong.counted("result")) differed from a direct computation") }
        if dropped == 0 { complaints.append("no duplicate was dropped") }
        if timedOut == 0 { complaints.append("no job timed out") }
        if recovered == 0 { complaints.append("no job was recovered from the killed worker") }
        return complaints
    }
}
