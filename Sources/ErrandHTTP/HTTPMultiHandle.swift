import CErrandCurl
import Foundation

/// libcurl's multi handle, which drives many transfers.
///
/// `wake` may be called on any thread, everything else only on the session's.
final class HTTPMultiHandle: @unchecked Sendable {
    private let handle: CurlHandle

    /// Makes a handle; `nil` if libcurl cannot be initialized.
    init?() {
        guard curl_global_init(ERRAND_CURL_GLOBAL_ALL) == 0, let handle = curl_multi_init() else { return nil }
        self.handle = handle
    }

    func add(_ easy: CurlHandle) -> Bool { curl_multi_add_handle(handle, easy) == 0 }

    func remove(_ easy: CurlHandle) { curl_multi_remove_handle(handle, easy) }

    /// Performs all work that does not block.
    func perform() {
        var running: Int32 = 0
        curl_multi_perform(handle, &running)
    }

    /// Returns a transfer that has ended, and its code.
    func nextEnd() -> (CurlHandle, code: Int)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left)?.pointee {
            if message.msg == ERRAND_CURL_MESSAGE_DONE, let easy = message.easy_handle {
                return (easy, Int(message.data.result))
            }
        }
        return nil
    }

    /// Waits until a socket is ready, a transfer's timeout is due, or `wake` is called.
    func waitForWork() {
        guard curl_multi_poll(handle, nil, 0, 3_600_000, nil) != 0 else { return }
        // Polling fails without memory. The pause keeps the loop from using a whole processor.
        Thread.sleep(forTimeInterval: 0.01)
    }

    func wake() { curl_multi_wakeup(handle) }
}
