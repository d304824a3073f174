import Crypto
import Errand
import Foundation
import Hummingbird
import NIOCore
import Photos

/// The page, uploads, and the versions that are there.
struct PhotoRoutes {
    private static let mostBytes = 50 * 1024 * 1024

    let store: PhotoStore
    let producer: Producer

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/html; charset=utf-8",
                    .contentSecurityPolicy: "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: PhotoPage.html))
            )
        }
        router.post("/photos") { request, _ in try await take(request) }
        router.get("/photos/:photo/:size") { _, context in
            try await version(try context.parameters.require("photo"), try context.parameters.require("size"))
        }
    }

    /// Keeps the upload, pushes its job, and says which job it is: the one that is there already, if there is one.
    private func take(_ request: Request) async throws -> Response {
        let photo = try await keep(request)
        let receipt = try await producer.push(ResizePhoto(photo: photo))
        // A lost answer: pushing it again with the receipt's id could not make a second job, so the browser may try again.
        guard receipt.outcome != .unknown else { throw HTTPError(.serviceUnavailable) }
        let answer = #"{"photo":"\#(photo)","job":"\#(receipt.id)"}"#
        return Response(
            status: .accepted,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer))
        )
    }

    private func keep(_ request: Request) async throws -> String {
        let file = store.unfinished()
        defer { try? FileManager.default.removeItem(at: file) }
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw HTTPError(.internalServerError, message: "The photo cannot be kept.")
        }
        let handle = try FileHandle(forWritingTo: file)
        var (digest, size, start) = (SHA256(), 0, [UInt8]())
        for try await buffer in request.body {
            let bytes = Array(buffer.readableBytesView)
            if start.count < 3 { start += bytes.prefix(3) }
            size += bytes.count
            guard size <= Self.mostBytes else {
                throw HTTPError(.contentTooLarge, message: "A photo has at most 50 MiB.")
            }
            digest.update(data: bytes)
            try handle.write(contentsOf: bytes)
        }
        try handle.close()
        guard start.prefix(3) == [0xFF, 0xD8, 0xFF] else {
            throw HTTPError(.unsupportedMediaType, message: "Please choose a JPEG.")
        }
        let photo = digest.finalize().prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try store.publish(file, as: store.original(photo))
        return photo
    }

    private func version(_ photo: String, _ size: String) async throws -> Response {
        guard PhotoStore.isPhoto(photo), let size = Int(size), ResizePhoto.sizes.contains(size) else {
            throw HTTPError(.notFound)
        }
        guard let bytes = try? Data(contentsOf: store.version(photo, size)) else { throw HTTPError(.notFound) }
        return Response(
            status: .ok,
            headers: [.contentType: "image/jpeg", .cacheControl: "max-age=31536000, immutable"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
