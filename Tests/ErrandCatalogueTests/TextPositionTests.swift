import ErrandText
import Testing

struct TextPositionTests {
    @Test(arguments: [
        (0, "line 1, column 1"), (1, "line 1, column 2"), (3, "line 1, column 3"), (4, "line 2, column 1"),
        (5, "line 3, column 1"), (6, "line 3, column 2"), (99, "line 3, column 3"), (-1, "line 1, column 1"),
    ]) func `lines end with line feeds, and columns are characters`(offset: Int, place: String) {
        #expect(TextPosition(of: offset, in: Array("aé\n\nbc".utf8)).description == place)
    }
}
