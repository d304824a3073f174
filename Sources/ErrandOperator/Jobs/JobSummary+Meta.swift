import Errand
import ErrandText

extension JobSummary {
    private static let mostMembers = 50
    private static let mostCharacters = 201

    /// The members of the job's `meta`, for people: strings as they are, other values as JSON, long ones shortened.
    ///
    /// Producers choose these values freely, so escape them like all job data.
    package var meta: [(key: String, value: String)] {
        let texts = stored?.description.meta ?? [:]
        var values: [String: String] = [:]
        for (key, value) in writtenMeta?.members ?? [] { values[key] = texts[key] ?? value.description }
        let shown = values.sorted { $0.key < $1.key }.prefix(Self.mostMembers).map { key, value in
            (key: key.shortened(to: Self.mostCharacters), value: value.shortened(to: Self.mostCharacters))
        }
        let hidden = values.count - shown.count
        return hidden > 0 ? shown + [(key: "…", value: "\(hidden.grouped) more")] : shown
    }

    /// The job's `meta` as JSON for programs, as it was written.
    package var metaJSON: JSONOutput { writtenMeta.map { .written($0.bytes) } ?? .null }

    private var writtenMeta: JSONText? {
        stored?.description.metaText
    }
}
