/// The explanation of each kind of finding: the problem, its consequences, and what `errand doctor --repair` changes.
enum FindingExplanations {
    static func text(of kind: String) -> String {
        texts[kind] ?? "a kind of damage that this version does not know; update errand"
    }

    static let texts = [
        "wrong_type":
            "a key has the wrong type, so every change of the queue is rejected. Repair moves the key aside with corrupt: before its name and rebuilds its contents as far as other keys allow. If the settings are moved aside, the queue is paused as a precaution: run errand queue resume",
        "registry_wrong_type":
            "the registry of queues is not a set, so no command can list the queues, and new queues are not entered. Repair moves it aside as errand:corrupt:{errand:queues} and enters every queue that has keys",
        "queue_unregistered": "a queue is not in the registry, so neither status nor doctor shows it. Repair enters it",
        "body_without_position":
            "a job is in no list, set or claim, so it would never run. Repair makes it ready, schedules it, or moves it to the dead jobs",
        "several_places":
            "a job is in more than one list, set or claim, so it may run more than once. Repair leaves it in one",
        "position_without_body":
            "a list, set or claim contains a job whose body is missing. Repair moves the id to the dead jobs, with the reason",
        "lock_without_holder":
            "a unique name is held by a job that does not exist; the next push of the name corrects that. Repair frees the name",
        "holder_unaware":
            "a job holds a unique name, but its own record of the name is missing, so the name would count as free. Repair restores the record",
        "name_not_held":
            "the unique name of a job is not held, so a second job of the name could be accepted. Repair gives the job its name; if another job already holds it, cancel one of them",
        "job_without_name":
            "a job was pushed with a uniqueness policy but holds no name, so a second job could be accepted. Repair gives the job its name; if another job holds it, cancel one of them",
        "claim_unreadable":
            "a claim cannot be read, so its job cannot be finished. Repair ends its hard deadline, and recovery then ends the claim",
        "claim_not_running":
            "a job with a unique name is claimed but not recorded as running, so a replacement would run at the same time. Repair restores the record",
        "token_forgotten":
            "a claim's token is newer than the last token on record, so that token could be used again if the clock is set back. Repair records the newer token",
        "lease_endless":
            "the lease of a session ends in more than two days, so its jobs would not be recovered if it dies. Repair ends the lease; a live session renews it",
        "grace_endless":
            "recovery is suspended for more than two days, so the jobs of dead workers would wait that long. Repair resumes recovery",
        "session_unknown":
            "a session has a lease but no registration. Repair ends the lease; a live worker registers again",
        "claims_without_session":
            "jobs are claimed by a session that is not registered, so they would never be recovered. Repair lets recovery find them",
        "successor_without_job": "a job waits for the end of a job that does not exist. Repair makes it ready",
        "successor_without_stop":
            "a job waits for the end of a run that has not been told to stop. Repair tells the run to stop",
        "running_without_claim":
            "a job is recorded as running but not claimed, so replacements would wait forever. Repair removes the record",
        "idle_without_session":
            "a session that no longer exists is listed as waiting for jobs, so a wake-up would be lost. Repair removes it",
        "tombstone_without_entry":
            "a tombstone has no entry, so the next job of this id would be skipped once. Repair removes it",
        "alias_without_owner":
            "an alias in a ready list stands for a job that does not refer to it. Repair restores the reference, or removes the alias",
        "alias_of_without_alias":
            "a job refers to an alias that does not refer back, so the job cannot be found. Repair restores the alias",
        "unroutable_without_list":
            "an operation is recorded as having unroutable jobs, but has none. Repair removes the record",
        "unroutable_miscounted": "the number of unroutable jobs of an operation is wrong. Repair counts them",
        "unroutable_unlisted":
            "an operation has unroutable jobs but is not listed, so they would never run. Repair lists the operation",
        "history_without_order":
            "the stored results have no order, so they would never expire. Repair restores the order and keeps them for another day",
        "name_without_job": "the record of a unique name has no job. Repair removes it",
        "running_without_job": "the record of a running job has no job. Repair removes it",
        "stops_without_job":
            "a request to stop has no job, so the next job of this id would be cancelled. Repair removes it",
        "failures_without_job":
            "a number of failures has no job, so the next job of this id would start with it. Repair removes it",
        "crashes_without_job":
            "a number of crashes has no job, so the next job of this id would start with it. Repair removes it",
        "solo_crashes_without_job":
            "a number of solo crashes has no job, so the next job of this id would start with it. Repair removes it",
        "errors_without_job": "a stored error has no job, so it would never be removed. Repair removes it",
        "progress_without_job": "a stored progress has no job, so it would never be removed. Repair removes it",
        "checkpoints_without_job":
            "a checkpoint has no job, so the next job of this id would continue from it. Repair removes it",
        "debounced_without_job":
            "the longest wait of a debounced job has no job, so the next job of this id would run too early. Repair removes it",
        "group_without_jobs":
            "a group is recorded as having jobs, but has none. Repair removes the record",
        "group_miscounted": "the number of waiting jobs of a group is wrong. Repair counts them",
        "group_not_found":
            "a group has jobs but is not among those that may run, so its jobs would never run. Repair enters it",
        "group_unlisted":
            "a group has jobs but is not recorded, so they would never run. Repair records it",
        "group_held_back":
            "a group is held back although its limit is not reached, so its jobs would never run. Repair lets them run",
        "group_blocked":
            "an ordered group waits for a job that does not exist, so its jobs would never run. Repair lets them run",
        "slot_without_claim":
            "a slot of a group is taken by a job that is not claimed, so fewer jobs of the group run at once than may. Repair frees it",
        "claim_without_slot":
            "a claimed job of a group takes no slot, so more jobs of the group may run at once than its limit allows. Repair takes the slot",
        "window_unreadable": "the window of a throttle cannot be read. Repair removes it",
        "window_without_end": "the window of a throttle would never be removed. Repair restores its end",
        "end_without_window": "the end of a throttle's window has no window. Repair removes it",
        "blocked_without_order":
            "a blocked job of a workflow is missing from their order, so no list shows it. Repair enters it",
        "blocked_without_need":
            "a blocked job of a workflow waits for nothing, so it will not run. Repair lets it run",
        "need_has_ended":
            "a job of a workflow waits for one that has ended. Repair looks at that end again",
        "open_job_has_ended":
            "a job of a workflow counts as not ended, but does not exist, so the workflow would not end. Repair notes how it ended, or that it was deleted if that is not known",
        "open_job_lost":
            "another queue does not have a job of a workflow any more, or it has ended there, and nothing is on its way: one of the two servers has lost data. The workflow would wait for ever. Repair notes how the job ended, or that it was deleted if that is not known; what comes after it by success is skipped then",
        "workflow_without_end":
            "all jobs of a workflow have ended, but it has not. Repair ends it",
        "workflow_without_header":
            "a listed workflow does not exist. Repair removes it from the list",
        "message_not_delivered":
            "what other queues must know of jobs of workflows has waited for over a minute, so that those workflows do not go on. A worker of this queue delivers it: make sure that one runs, and that the servers of the other queues can be reached. Repair delivers it",
        "workflow_not_sealed":
            "the push of a workflow was broken off, so its jobs never run. A worker of this queue would have forgotten it ten minutes after it began. Repair forgets it",
        "schedule_unreadable":
            "the definition of a schedule cannot be read, so it never ticks. Repair moves the definition to the queue's key corrupt:definitions; a worker that declares the schedule stores it again when it starts",
        "schedule_without_tick":
            "a schedule is not paused but has no next tick, so it would never tick again. Repair lets it tick from now on; missed ticks are not pushed",
        "pause_unknown":
            "a schedule has no next tick, and the key that recorded pauses was moved aside as corrupt:pauses by an earlier repair. Repair pauses the schedule; errand schedule resume lets it tick",
        "tick_far_ahead":
            "the next tick of a schedule is days later than its timing requires, as after a wrong clock. Repair lets it tick from now on",
        "tick_without_schedule":
            "a tick belongs to a schedule that does not exist, so every worker asks for it repeatedly. Repair removes it",
        "schedule_paused_and_due":
            "a schedule is paused but has a next tick, so it would tick nevertheless. Repair removes the tick; errand schedule resume lets it tick",
        "pause_without_schedule": "a pause belongs to no schedule, so it would never be removed. Repair removes it",
        "ticks_without_schedule":
            "numbers of ticks belong to no schedule, so the next schedule of this name would start with them. Repair removes them",
        "ticks_unreadable":
            "the numbers of a schedule's ticks cannot be read, so its last tick is unknown. Repair starts them again",
        "deletion_unreadable":
            "the revision of a deleted schedule cannot be read, so older code may restore the schedule. Repair removes the record; delete the schedule again if it comes back",
        "deletion_of_schedule":
            "a schedule exists but is also recorded as deleted, so workers that declare it would not restore it if it were lost. Repair removes the record of the deletion",
        "alias_of_without_job": "the record of an alias has no job. Repair removes it",
    ]
}
