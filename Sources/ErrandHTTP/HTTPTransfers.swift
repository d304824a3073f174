import CErrandCurl

/// The transfers of the session's thread.
struct HTTPTransfers {
    private let multi: HTTPMultiHandle
    private var running: [CurlHandle: HTTPTransfer] = [:]
    private var handles: [ObjectIdentifier: CurlHandle] = [:]

    init(_ multi: HTTPMultiHandle) { self.multi = multi }

    mutating func begin(_ transfer: HTTPTransfer) {
        // The task may have been cancelled before this thread received the request.
        guard !transfer.hasEnded else { return }
        guard let handle = transfer.makeHandle(), multi.add(handle) else {
            return transfer.end(.failed(HTTPFailure("libcurl takes no request: there is no memory left")))
        }
        running[handle] = transfer
        handles[ObjectIdentifier(transfer)] = handle
    }

    /// Closes the connection of a transfer that is still in progress.
    mutating func abandon(_ transfer: HTTPTransfer) {
        guard let handle = handles[ObjectIdentifier(transfer)] else { return }
        remove(handle)
    }

    /// Sends and receives without blocking, and ends complete transfers.
    mutating func advance() {
        multi.perform()
        while let (handle, code) = multi.nextEnd() {
            running[handle]?.finish(code)
            remove(handle)
        }
        for (handle, transfer) in running where transfer.isComplete {
            transfer.finish(0)
            remove(handle)
        }
    }

    private mutating func remove(_ handle: CurlHandle) {
        guard let transfer = running.removeValue(forKey: handle) else { return }
        handles.removeValue(forKey: ObjectIdentifier(transfer))
        multi.remove(handle)
        transfer.dropHandle()
    }
}
