import Testing

@testable import ErrandRedis

struct CommandWriterTests {
    @Test func writesLengthsInBytes() {
        var writer = CommandWriter()
        writer.begin(3)
        writer.add("SET")
        writer.add([0, 13, 10, 255])
        writer.add("é")
        #expect(writer.commands == 1)
        #expect(
            writer.bytes == Array("*3\r\n$3\r\nSET\r\n$4\r\n".utf8) + [0, 13, 10, 255] + Array("\r\n$2\r\né\r\n".utf8)
        )
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, 12_345, Int.max, Int.min])
    func writesNumbers(_ number: Int) {
        var writer = CommandWriter()
        writer.begin(1)
        writer.add(number)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "*1\r\n$\(String(number).utf8.count)\r\n\(number)\r\n")
    }
}
