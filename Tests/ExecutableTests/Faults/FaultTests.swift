import Testing

/// Everything that can go wrong between real processes: killed and stopped workers, a server that dies under load, lost and
/// doubled messages, storms of one name, garbage in every key.
///
/// Each test makes the fault happen, proves that it did, and then demands that nothing was lost, doubled or left behind.
/// `ERRAND_FAULTS=full` runs the large numbers, `ERRAND_SEED=…` repeats a run.
@Suite(.serialized, .timeLimit(.minutes(FaultProfile.isFull ? 20 : 6)))
struct FaultTests {}
