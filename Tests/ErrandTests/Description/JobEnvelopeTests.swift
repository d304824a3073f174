import Errand
import Testing

@Suite struct JobEnvelopeTests {
    @Test func `the header has what the broker needs`() throws {
        let envelope = try OperationDescription(
            "thumbnail",
            arguments: ["path": "a.jpg"],
            queue: "images",
            unique: .replace,
            notBefore: 1_795_215_724_000,
            priority: 9
        ).makeEnvelope()
        #expect(envelope.id.utf8.count == 26)
        #expect(envelope.queue == "images")
        #expect(envelope.operation == "thumbnail")
        let name = "thumbnail sha256:5517a19b821a8c289cf97e1c22acb6355e6331bbe2caebc77a28431311f2e910"
        #expect(envelope.name == name)
        #expect(envelope.policy == .replace)
        #expect(envelope.priority == 9)
        #expect(envelope.notBefore == 1_795_215_724_000)
        let beginning = "1r9;;;114\n" + #""operation":"thumbnail","name":"\#(name)"{"v":1,"#
        #expect(String(decoding: envelope.bytes, as: UTF8.self).hasPrefix(beginning))
    }

    @Test func `an id is made once and kept`() throws {
        let description = try OperationDescription("a")
        #expect(try description.makeEnvelope().id != description.makeEnvelope().id)
        #expect(try OperationDescription("a", id: "mine").makeEnvelope { "other" }.id == "mine")
        #expect(throws: DescriptionError.self) { try description.makeEnvelope { "no id" } }
    }

    @Test func `a description that becomes too large is rejected`() throws {
        let filler = String(repeating: "x", count: 1_114_112 - 24)
        let description = try OperationDescription(json: #"{"operation":"a","x":"\#(filler)"}"#)
        let error = #expect(throws: DescriptionError.self) { try description.makeEnvelope() }
        #expect(error?.code == .tooLarge)
    }

    @Test func `a stored job is read back`() throws {
        let stored = try JobEnvelope.read(stored: job())
        #expect(stored.readySince == 1_795_215_724_000)
        #expect(stored.policy == .drop)
        #expect(stored.priority == 7)
        #expect(stored.timeout == .seconds(10))
        #expect(stored.retries == 3)
        #expect(String(decoding: stored.fragment, as: UTF8.self) == #""operation":"a","name":"é""#)
        #expect(stored.description.id == "i")
    }

    @Test func `a fragment may be escaped in another way`() throws {
        let fragment = #""operation" : "a", "name":"\u00e9""#
        let stored = try JobEnvelope.read(stored: job(header: "1d7;10000;3;\(fragment.utf8.count)", fragment: fragment))
        #expect(String(decoding: stored.fragment, as: UTF8.self) == fragment)
    }

    @Test(
        arguments: [
            #""operation":"a","name":null,"tags":["é"]"#, #""operation":"a","name":null,"tags":["\u00e9"]"#,
            #""operation":"a","name":null"#,
        ]
    )
    func `a fragment has the tags or leaves them out`(fragment: String) throws {
        #expect(try JobEnvelope.read(stored: tagged(fragment)).description.tags == ["é"])
    }

    @Test func `a fragment with other tags is rejected`() throws {
        let bytes = tagged(#""operation":"a","name":null,"tags":["e"]"#)
        #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: bytes) }
    }

    @Test func `tags that would make a fragment too long are left out`() throws {
        let name = String(repeating: "\u{1}", count: 1024)
        for (count, isLeftOut) in [(2, false), (8, true)] {
            let tags = Array(repeating: String(repeating: "\u{2}", count: 64), count: count)
            let envelope = try OperationDescription("a", name: name, tags: tags).makeEnvelope()
            let stored = try JobEnvelope.read(stored: envelope.stored(readySince: 0))
            #expect(stored.description.tags == tags)
            #expect(stored.fragment.count <= 8192)
            #expect(String(decoding: stored.fragment, as: UTF8.self).contains("tags") == !isLeftOut)
        }
    }

    private static let unreadable: [(EnvelopeError.Part, time: String, header: String)] = [
        (.time, "", "1d7;10000;3;27"),
        (.time, "17952157240x0", "1d7;10000;3;27"),
        (.time, "-795215724000", "1d7;10000;3;27"),
        (.header, "0000000000000", "2d7;10000;3;27"),
        (.header, "0000000000000", "1x7;10000;3;27"),
        (.header, "0000000000000", "1d7;10000;27"),
        (.header, "0000000000000", "1d;10000;3;27"),
        (.header, "0000000000000", "1d7;10000;3;"),
        (.header, "0000000000000", "1d7;1e4;3;27"),
        (.header, "0000000000000", "1d7;10000;-3;27"),
        (.header, "0000000000000", "1d7;99999999999999999999;3;27"),
        (.header, "0000000000000", "1d7;;;;27"),
        (.header, "0000000000000", ""),
        (.header, "0000000000000", "1i7;10000;3;27"),
        (.header, "0000000000000", "1d8;10000;3;27"),
        (.header, "0000000000000", "1d7;10001;3;27"),
        (.header, "0000000000000", "1d7;;3;27"),
        (.header, "0000000000000", "1d7;10000;4;27"),
        (.header, "0000000000000", "1d7;10000;;27"),
        (.fragment, "0000000000000", "1d7;10000;3;9999"),
        (.fragment, "0000000000000", "1d7;10000;3;9223372036854775807"),
        (.description, "0000000000000", "1d7;10000;3;26"),
        (.description, "0000000000000", "1d7;10000;3;0"),
    ]

    @Test(arguments: unreadable)
    func `a part that cannot be read is named`(part: EnvelopeError.Part, time: String, header: String) throws {
        let bytes = job(time: time, header: header)
        let error = #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: bytes) }
        #expect(error?.part == part, "\(String(describing: error))")
        #expect(error?.description.isEmpty == false)
    }

    @Test(
        arguments: [
            #""operation":"b","name":"é""#, #""operation":"a","name":"e""#, #""operation":"a""#,
            #""operation":"a","name":null"#,
            #""operation":"a","name":"é","id":"x""#, #""operation":"a","name":"é","event":"x""#,
            #""operation":"a","name":"é"}"#,
            "\"operation\":\"a\",\n\"name\":\"é\"", "x", "",
        ]
    )
    func `a fragment that differs from the description is rejected`(fragment: String) throws {
        let bytes = job(header: "1d7;10000;3;\(fragment.utf8.count)", fragment: fragment)
        let error = #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: bytes) }
        #expect(error?.part == .fragment)
    }

    @Test func `a unique job without its name is rejected`() throws {
        let text = Array(
            ("0000000000000" + "1d5;;;27\n" + #""operation":"a","name":null"# + #"{"operation":"a","unique":"drop"}"#)
                .utf8
        )
        let error = #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: text) }
        #expect(error?.part == .description)
        #expect(error?.message.contains("name") == true)
    }

    @Test func `an error in the description is the cause`() throws {
        let text = Array(
            ("0000000000000" + "1i5;;;27\n" + #""operation":"a","name":null"# + #"{"operation":"a","v":9}"#).utf8
        )
        let error = #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: text) }
        #expect(error?.cause?.code == .unsupportedVersion)
        #expect(error?.cause?.offset == 21)
    }

    @Test func `the stored time always has 13 digits`() throws {
        let envelope = try OperationDescription("a").makeEnvelope()
        for (time, digits) in [
            (Int64(0), "0000000000000"), (42, "0000000000042"), (-1, "0000000000000"), (.max, "9999999999999"),
        ] {
            #expect(envelope.stored(readySince: time).starts(with: digits.utf8))
        }
    }

    /// A stored job with a tag.
    private func tagged(_ fragment: String) -> [UInt8] {
        let json = #"{"operation":"a","unique":"ignore","tags":["é"]}"#
        return Array("00000000000001i5;;;\(fragment.utf8.count)\n\(fragment)\(json)".utf8)
    }

    /// A stored job, by default one without a fault.
    private func job(
        time: String = "1795215724000",
        header: String = "1d7;10000;3;27",
        fragment: String = #""operation":"a","name":"é""#
    ) -> [UInt8] {
        let json = #"{"operation":"a","name":"é","unique":"drop","timeout_ms":10000,"retries":3,"priority":7,"id":"i"}"#
        return Array((time + header + "\n" + fragment + json).utf8)
    }
}
