import Foundation
import Hummingbird
import Logging
import NIOCore

/// What a request is answered in; it knows where the request came from.
struct UserContext: RequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
