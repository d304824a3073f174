import Foundation
import Testing

@testable import Backgroundable

@Suite struct SlotTableTests {
    @Test func aFreeSlotIsReused() {
        var seating = SlotTable()
        for number in 0..<1_000 {
            let operation = PlainOperation()
            let seat = seating.enter(operation, hash: number.hashValue, call: 0)
            #expect(seat == 0)
            #expect(seating.leave(seat) === operation)
            #expect(seating.leave(seat) == nil)
        }
    }

    @Test func anEmptyTableStartsAnewAndHoldsNothing() {
        var seating = SlotTable()
        weak var last: PlainOperation?
        do {
            let operations = (0..<3_000).map { _ in PlainOperation() }
            last = operations.last
            let seats = operations.map { seating.enter($0, hash: $0.hash, call: 0) }
            #expect(Set(seats).count == operations.count)
            for seat in seats { _ = seating.leave(seat) }
        }
        #expect(last == nil)
        #expect(seating.operations.isEmpty)
        #expect(seating.enter(PlainOperation(), hash: 1, call: 0) == 0)
    }
}
