import Foundation
import Testing

@testable import Backgroundable

@Suite struct BackgroundTaskSlotsTests {
    @Test func anOldIdentifierDoesNotEndTheNextTaskInItsSlot() {
        var slots = BackgroundTaskSlots()
        let old = slots.begin(.init())
        #expect(slots.end(old) != nil)
        let new = slots.begin(.init(name: "new"))
        #expect(old.rawValue & 0xFFFF_FFFF == new.rawValue & 0xFFFF_FFFF)
        #expect(old != new)
        #expect(slots.end(old) == nil)
        #expect(slots.names == ["new"])
        #expect(slots.end(new)?.name == "new")
        #expect(slots.count == 0)
    }

    @Test(arguments: [0, 1, -1, .max, .min, 1 << 32, 1 << 32 | 1, 7])
    func whatNeverWasAnIdentifierEndsNothing(rawValue: Int) {
        var slots = BackgroundTaskSlots()
        let identifier = BackgroundTaskIdentifier(rawValue: rawValue)
        #expect(slots.end(identifier) == nil)
        let task = slots.begin(.init())
        #expect(task != .invalid)
        if identifier != task { #expect(slots.end(identifier) == nil) }
        #expect(slots.count == 1)
    }

    @Test func theOrderIsThatOfBeginningWhateverTheSlots() {
        var slots = BackgroundTaskSlots()
        let first = (0..<4).map { slots.begin(.init(name: "\($0)")) }
        _ = slots.end(first[0])
        _ = slots.end(first[2])
        let later = [slots.begin(.init(name: "4")), slots.begin(.init()), slots.begin(.init(name: "6"))]
        #expect(slots.names == ["1", "3", "4", nil, "6"])
        #expect(slots.newestFirst == [later[2], later[1], later[0], first[3], first[1]])
    }
}
