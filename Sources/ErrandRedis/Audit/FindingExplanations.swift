/// The explanation of each kind of finding: the problem, its consequences, and the repair.
enum FindingExplanations {
    static func text(of kind: String) -> String { texts[kind] ?? "broken invariant" }

    static let texts = [
        "wrong_type":
            "a key has the wrong type, so every change of the queue is refused. Repair puts it aside under the same name after corrupt: and mends what it held as far as other keys tell. Where it puts settings aside the queue is paused, for it may have been: errand queue resume lets it go on",
        "registry_wrong_type":
            "the registry of queues is no set, so no command can list the queues, and new ones are not entered. Repair puts it aside as errand:corrupt:queues and enters every queue that has keys",
        "queue_unregistered": "a queue is not in the registry, so neither status nor doctor shows it. Repair enters it",
        "body_without_position":
            "a job is in no line, set or claim: it would never run. Repair puts it in line, at its time, or among the dead",
        "several_places": "a job is in more than one place: it may run more than once. Repair leaves it in one",
        "position_without_body":
            "a line, set or claim names a job that does not exist: what it was is lost. Repair puts it among the dead, with the reason",
        "lock_without_holder": "a name is held by no living job; the next push heals it. Repair frees it",
        "holder_unaware":
            "a job holds its name but does not know of it, so the name would be taken for free. Repair tells the job",
        "name_not_held":
            "a job's name is not locked, so a second job of the name could be taken. Repair locks it; where two hold it already, cancel one",
        "job_without_name":
            "a job was pushed with a policy but holds no name, so a second one could be taken. Repair gives it its name; where another holds it, cancel one",
        "claim_unreadable":
            "a claim cannot be read, so nobody can finish the job. Repair lets its hard deadline pass, and recovery takes it",
        "claim_not_running":
            "a job with a name is claimed but not said to run: a replacement would start beside it. Repair says so",
        "token_forgotten":
            "a claim's token is newer than the last one known: after a clock set back it could be given out again. Repair moves the last one on",
        "lease_endless":
            "a session's lease ends in more than two days: if it dies, its jobs stay with it. Repair ends the lease; a living session renews it",
        "grace_endless":
            "recovery is put off for more than two days: jobs of dead workers would wait that long. Repair ends the grace",
        "session_unknown": "a session has a lease but no record. Repair ends its lease; a living worker registers anew",
        "claims_without_session":
            "jobs are claimed by a session that is not registered: nobody would take them back. Repair lets recovery do it",
        "successor_without_job": "a job waits for the end of one that does not exist. Repair puts it in line",
        "successor_without_stop":
            "a job waits for the end of a run that was not told to stop, so it may wait for long. Repair tells the run",
        "running_without_claim":
            "a job counts as running but nobody holds it: replacements would wait for it for ever. Repair takes the record away",
        "idle_without_session":
            "a session that is gone is listed as waiting for work: a hint would be lost on it. Repair takes it off",
        "tombstone_without_entry":
            "a tombstone has no entry: the next job of this id would be skipped once. Repair takes it away",
        "alias_without_owner":
            "a place in line is said to be taken over by a job that does not know of it. Repair tells the job, or frees the place",
        "alias_of_without_alias":
            "a job is said to have taken over a place in line that does not know of it: it would not be found there. Repair tells the place",
        "unroutable_without_list":
            "an operation is said to have waiting jobs, but there is no line of them. Repair takes the record away",
        "unroutable_miscounted": "the number of jobs that wait for an operation is wrong. Repair counts them",
        "unroutable_unlisted":
            "jobs wait for an operation, but nobody is told: they would never run. Repair lists the operation",
        "history_without_order":
            "kept results are in no order, so they would be kept for ever. Repair makes an order, and keeps them for a day from now",
        "name_without_job": "a record of a name has no job. Repair takes it away",
        "running_without_job": "a record of a running job has no job. Repair takes it away",
        "stops_without_job":
            "a request to stop has no job: the next job of this id would be cancelled. Repair takes it away",
        "failures_without_job":
            "a count of failures has no job: the next job of this id would begin with it. Repair takes it away",
        "crashes_without_job":
            "a count of crashes has no job: the next job of this id would begin with it. Repair takes it away",
        "solo_crashes_without_job":
            "a count of lone crashes has no job: the next job of this id would begin with it. Repair takes it away",
        "errors_without_job": "a kept error has no job, so it is kept for ever. Repair takes it away",
        "progress_without_job": "a kept progress has no job, so it is kept for ever. Repair takes it away",
        "checkpoints_without_job":
            "a checkpoint has no job: the next job of this id would go on from it. Repair takes it away",
        "schedule_unreadable":
            "a schedule's definition cannot be read, so it never ticks. Repair keeps the definition in the queue's key corrupt:definitions for a person to look at; a worker that declares the schedule stores it anew when it starts",
        "schedule_without_tick":
            "a schedule is not paused and has no next tick: it would never tick again. Repair lets it tick from now on; ticks that it missed stay missed",
        "pause_unknown":
            "a schedule has no next tick, and whether it was paused was in the key that a repair put aside as corrupt:pauses. Repair pauses it; errand schedule resume lets it tick",
        "tick_far_ahead":
            "a schedule's next tick is days later than its timing says, as after a clock that was wrong: it would not tick until then. Repair lets it tick from now on",
        "tick_without_schedule":
            "a tick is to come of a schedule that does not exist: every worker asks for it again and again. Repair takes it away",
        "schedule_paused_and_due":
            "a schedule is paused, and yet has a next tick: it would tick although somebody has paused it. Repair takes the tick away; errand schedule resume lets it tick",
        "pause_without_schedule": "a pause has no schedule, so it is kept for ever. Repair takes it away",
        "ticks_without_schedule":
            "counts of ticks have no schedule: the next schedule of this name would begin with them. Repair takes them away",
        "ticks_unreadable":
            "the counts of a schedule's ticks cannot be read, so nobody knows when it last ticked. Repair lets it count anew",
        "deletion_unreadable":
            "the revision that a deleted schedule had cannot be read, so older code may bring the schedule back. Repair takes the record away; delete the schedule again if it comes back",
        "deletion_of_schedule":
            "a schedule exists and is remembered as deleted, so if it is lost, workers that declare it would not bring it back. Repair forgets the deletion",
        "alias_of_without_job": "a place in line has no job. Repair takes the record away",
    ]
}
