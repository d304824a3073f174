/// The version of Errand.
package enum ErrandVersion {
    /// The `--version` of every executable: the newest version in `CHANGELOG.md`; while the changelog has an unreleased
    /// one, that version with `-dev`.
    package static let current = "0.1.0-dev"
}
