import CErrandCurl

/// The transfers of a session's thread.
struct HTTPTransfers {
    private let multi: HTTPMultiHandle
    private var running: [CurlHandle: HTTPTransfer] = [:]
    private var handles: [ObjectIdentifier: CurlHandle] = [:]

    init(_ multi: HTTPMultiHandle) { self.multi = multi }

    mutating func begin(_ transfer: HTTPTransfer) {
        // Its task may have been cancelled before the request was handed over.
        guard !transfer.hasEnded else { return }
        guard let handle = transfer.makeHandle(), multi.add(handle) else {
            return transfer.end(.failed(HTTPFailure("libcurl takes no request: there is no memory left")))
        }
        running[handle] = transfer
        handles[ObjectIdentifier(transfer)] = handle
    }

    /// Closes the transfer's connection, if it still runs.
    mutating func abandon(_ transfer: HTTPTransfer) {
        guard let handle = handles[ObjectIdentifier(transfer)] else { return }
        remove(handle)
    }

    /// Sends and receives what can be without waiting, and ends what is complete.
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
