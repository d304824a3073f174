import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// What addresses of `http` operations come to with a job's arguments.
struct WebAddressTests {
    private func filled(_ address: String, _ arguments: String = "{}") throws -> String {
        try WebAddress(address).url(JSONText(validating: arguments.utf8)).absoluteString
    }

    @Test(arguments: [
        ("http://h/users/{id}", #"{"id":7}"#, "http://h/users/7"),
        ("http://h/{a}/{b}", #"{"a":"x y","b":"é/?#%&+{}"}"#, "http://h/x%20y/%C3%A9%2F%3F%23%25%26%2B%7B%7D"),
        ("http://h/?q={q}&r=1", #"{"q":"a&r=2"}"#, "http://h/?q=a%26r%3D2&r=1"),
        ("http://h/a b/{x}?y=ü", #"{"x":"-._~"}"#, "http://h/a%20b/-._~?y=%C3%BC"),
        ("https://{tenant}.example.com/", #"{"tenant":"acme"}"#, "https://acme.example.com/"),
        ("http://bücher.de/{x}", #"{"x":1.50}"#, "http://xn--bcher-kva.de/1.50"),
        ("http://h/{x}", #"{"x":[1,"a"]}"#, "http://h/%5B1%2C%22a%22%5D"),
        ("http://h/{x}", #"{"x":""}"#, "http://h/"),
        ("http://h/{{x}}", "{}", "http://h/%7Bx%7D"),
        ("http://u:p%40@h/{x}", #"{"x":true}"#, "http://u:p%40@h/true"),
        ("http://{u}:{p}@h/", #"{"u":"a","p":"b:c"}"#, "http://a:b%3Ac@h/"),
        ("http://[::1]:1/{x}", #"{"x":1}"#, "http://[::1]:1/1"),
        ("http://h/a%2Fb/{x}", #"{"x":1}"#, "http://h/a%2Fb/1"),
        ("http://h/plain?a=%41", "[1]", "http://h/plain?a=%41"),
    ]) func `arguments are filled in percent-encoded`(address: String, arguments: String, url: String) throws {
        #expect(try filled(address, arguments) == url)
    }

    @Test(arguments: [
        ("http://h/{x}", "{}", "missing"),
        ("http://h/{x}", #"{"x":null}"#, "null"),
        ("http://h/{x}", "[1]", "not a JSON object"),
        ("http://h/{x}", #"{"x":"a\u0000b"}"#, "NUL"), ("http://h/{x}/y", #"{"x":".."}"#, "part of its path"),
        ("http://h/{x}/y", #"{"x":"."}"#, "part of its path"),
        ("http://h/{x}{x}", #"{"x":"."}"#, "part of its path"),
        ("https://{x}/", #"{"x":"evil.com/"}"#, "server's name"),
        ("https://{x}.example.com/", #"{"x":"a@evil.com:1/"}"#, "server's name"),
        ("https://{x}/", #"{"x":""}"#, "web address"),
        ("http://{u}:{p}@h/", #"{"u":"a:b","p":"c"}"#, "colon in its user's name"),
        ("http://{u}@h/", #"{"u":"a:"}"#, "colon in its user's name"),
    ]) func `arguments that do not fit fail the job`(address: String, arguments: String, reason: String) throws {
        let error = #expect(throws: ArgumentError.self) { try filled(address, arguments) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        "http://h/{", "http://h/}", "http://h/{}", "{scheme}://h/", "http://h:{port}/", "http://[{x}]/",
        "http://h/../{x}", "http://h:0/", "http://h:65536/", "http://h:99999999999/", "ftp://h/",
        "http+unix://%2Ftmp%2Fs/", "unix:///tmp/s",
        "http://a%3Ab:c@h/", "http://a%3A@h/", "http:///x", "http://x y/", "http://", "/x", "", "http://b ü/{x}",
        "h:80/x",
    ]) func `addresses that can never work are refused`(address: String) {
        let error = #expect(throws: WebAddressError.self) { try WebAddress(address) }
        #expect(error?.reason.isEmpty == false)
    }

    @Test func `a missing argument fails the call before it is made`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        let outcome = try await CatalogueRunner().call(server.url + "/{id}")
        #expect(outcome == .failed("the argument \"id\" is missing", isFinal: true))
        #expect(server.requests.isEmpty)
    }

    @Test func `a call goes to the address with its arguments`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        _ = try await CatalogueRunner().call(server.url + "/{path}#fragment")
        _ = try await CatalogueRunner().call(server.url + "/b?x={path}", arguments: Array(#"{"path":"ü"}"#.utf8))
        _ = try await CatalogueRunner().call(server.url + "/a/../c")
        let paths = ["/a.jpg", "/b?x=%C3%BC", "/a/../c"]
        #expect(server.requests.map(\.line) == paths.map { "POST \($0) HTTP/1.1" })
    }
}
