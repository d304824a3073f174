/// A first-in, first-out queue. Appending and removing the first element take constant time.
struct WaitQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    /// The indices of the elements, from the first to the last.
    var places: Range<Int> { head..<elements.count }

    subscript(place: Int) -> Element? { elements[place] }

    var first: Element? {
        head < elements.count ? elements[head] : nil
    }

    /// Inserts an element behind the last element that it does not overtake.
    mutating func insert(_ element: Element, overtaking: (Element) -> Bool) {
        var place = elements.count
        while place > head, let other = elements[place - 1], overtaking(other) { place -= 1 }
        elements.insert(element, at: place)
    }

    mutating func removeFirst() {
        guard head < elements.count else { return }
        elements[head] = nil
        head += 1
        if head > 32, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }
}
