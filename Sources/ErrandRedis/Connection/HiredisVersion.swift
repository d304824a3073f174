import CHiredis

/// Which hiredis this was made with.
package enum HiredisVersion {
    /// As its headers say it: `0.14.1`.
    package static var text: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
