import Errand
import Testing

@Suite struct DescriptionParsingTests {
    @Test func `every field comes out`() throws {
        let description = try OperationDescription(
            json: #"""
                {"v":1,"operation":"thumbnail","arguments":{"path":"a.jpg"},"queue":"images","name":"thumbnail \u00e9",
                 "unique":"replace","timeout_ms":10000,"not_before_ms":1795215724000,"retries":3,"priority":0,
                 "id":"01J","meta":{"traceparent":"00-1","n":1}}
                """#
        )
        #expect(description.operation == "thumbnail")
        #expect(description.arguments.description == #"{"path":"a.jpg"}"#)
        #expect(description.queue == "images")
        #expect(description.name == "thumbnail é")
        #expect(description.uniquenessPolicy == .replace)
        #expect(description.timeout == .seconds(10))
        #expect(description.notBefore == 1_795_215_724_000)
        #expect(description.retries == 3)
        #expect(description.priority == 0)
        #expect(description.id == "01J")
        #expect(description.meta == ["traceparent": "00-1"])
    }

    @Test func `arguments are kept byte by byte`() throws {
        let arguments = #"{ "z":1.0,"a" :[ 9007199254740993, 1e400,"\u0041\/" ]}"#
        let description = try OperationDescription(json: #"{"operation":"a","arguments": \#(arguments) }"#)
        #expect(description.arguments.description == arguments)
        #expect(String(decoding: description.encoded(), as: UTF8.self).contains(#""arguments":\#(arguments)}"#))
    }

    @Test func `unknown keys are written again`() throws {
        let description = try OperationDescription(
            json: #"{"x" : [ 1 ],"operation":"a","\u0041":{ },"x":2,"timeout":"10s"}"#
        )
        let text = String(decoding: try description.makeEnvelope { "i" }.bytes, as: UTF8.self)
        #expect(text.hasSuffix(#""id":"i","x":[ 1 ],"\u0041":{ },"x":2,"timeout":"10s"}"#))
        #expect(try description.filling(priority: 5) != description)
    }

    @Test func `an error names its position`() {
        let cases: [(String, Int, String)] = [
            (#"{"operation":"a","priority": 12}"#, 29, #""priority" at byte 29: must be a whole number from 0 to 9"#),
            (#"{"operation":"a","name":"\ud800"}"#, 25, "surrogate"),
            (#"{"operation":"a""#, 16, "found the end of the text"),
            ("{\"operation\":\"a\",\"é\":\u{1b}}", 22, "found byte 0x1B"),
            (#"{"operation":"a","id":"b","id":"c"}"#, 26, "twice"),
            (#"{"operation":"a","retries":"3"}"#, 27, "but a string is there"),
        ]
        for (text, offset, message) in cases {
            let error = #expect(throws: DescriptionError.self) { try OperationDescription(json: text) }
            #expect(error?.offset == offset, "\(text)")
            #expect(error?.description.contains(message) == true, "\(String(describing: error))")
        }
    }

    @Test func `no error repeats raw bytes of the input`() {
        for byte in UInt8.min...UInt8.max {
            let text = Array(#"{"operation":"a","#.utf8) + [byte]
            guard
                let error = #expect(throws: DescriptionError.self, performing: { try OperationDescription(json: text) })
            else { continue }
            #expect(error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }
}
