// What the observers are called in Operations and ProcedureKit. Observers here are called before the operation is seen as
// finished, so what is about to happen and what has happened are one moment.

/// What ``StartedObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "StartedObserver")
public typealias WillExecuteObserver = StartedObserver

/// What ``StartedObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "StartedObserver")
public typealias DidExecuteObserver = StartedObserver

/// What ``CancelledObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "CancelledObserver")
public typealias WillCancelObserver = CancelledObserver

/// What ``CancelledObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "CancelledObserver")
public typealias DidCancelObserver = CancelledObserver

/// What ``FinishedObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "FinishedObserver")
public typealias WillFinishObserver = FinishedObserver

/// What ``FinishedObserver`` is called in ProcedureKit.
@available(*, deprecated, renamed: "FinishedObserver")
public typealias DidFinishObserver = FinishedObserver
