import Testing

/// Failures between real processes: killed and suspended workers, a server that dies under load, lost and
/// repeated messages, storms of one name, garbage in every key.
///
/// Each test injects the fault, proves that it happened, and then checks that nothing was lost, repeated or left
/// behind.
/// `ERRAND_FAULTS=full` runs the large numbers, `ERRAND_SEED=…` repeats a run.
@Suite(.serialized, .timeLimit(.minutes(FaultProfile.isFull ? 20 : 6)))
struct FaultTests {}
