import Foundation

/// Elements of an SVG image.
enum SVG {
    /// Returns the first lines, with a white background.
    static func head(width: Int, height: Int) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" font-family="sans-serif" font-size="12">
        <rect width="100%" height="100%" fill="white"/>

        """
    }

    static func line(_ places: [(Double, Double)], _ colour: String) -> String {
        let list = places.map { "\(place($0.0)),\(place($0.1))" }.joined(separator: " ")
        return "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.5\"/>\n"
    }

    static func circle(_ x: Double, _ y: Double, _ colour: String) -> String {
        "<circle cx=\"\(place(x))\" cy=\"\(place(y))\" r=\"3\" fill=\"\(colour)\"/>\n"
    }

    static func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        "<text x=\"\(place(x))\" y=\"\(place(y))\" text-anchor=\"\(anchor)\">\(text)</text>\n"
    }

    /// Formats a number: 1000000 as 1M, 10240 as 10.2k.
    static func short(_ number: Double) -> String {
        switch number {
        case 1e6...: String(format: "%gM", (number / 1e5).rounded() / 10)
        case 1e3...: String(format: "%gk", (number / 100).rounded() / 10)
        default: String(format: "%g", number)
        }
    }

    private static func place(_ number: Double) -> String { String(format: "%.1f", number) }
}
