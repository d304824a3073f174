// The observers' names in Operations and ProcedureKit. Observers here are called before the operation is visible as
// finished, so "will" and "did" are the same event.

/// The name of ``StartedObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "StartedObserver")
public typealias WillExecuteObserver = StartedObserver

/// The name of ``StartedObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "StartedObserver")
public typealias DidExecuteObserver = StartedObserver

/// The name of ``CancelledObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "CancelledObserver")
public typealias WillCancelObserver = CancelledObserver

/// The name of ``CancelledObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "CancelledObserver")
public typealias DidCancelObserver = CancelledObserver

/// The name of ``FinishedObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "FinishedObserver")
public typealias WillFinishObserver = FinishedObserver

/// The name of ``FinishedObserver`` in ProcedureKit.
@available(*, deprecated, renamed: "FinishedObserver")
public typealias DidFinishObserver = FinishedObserver
