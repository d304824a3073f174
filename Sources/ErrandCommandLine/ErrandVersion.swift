/// Which Errand this is.
package enum ErrandVersion {
    /// What `--version` of every executable says: the version that is newest in `CHANGELOG.md`, and `-dev` behind the
    /// next one while the changelog calls it unreleased.
    package static let current = "0.1.0-dev"
}
