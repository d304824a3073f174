import Dispatch

/// Returns the nanoseconds that `body` takes.
func nanoseconds(_ body: () -> Void) -> Double {
    let begin = DispatchTime.now().uptimeNanoseconds
    body()
    return Double(DispatchTime.now().uptimeNanoseconds - begin)
}
