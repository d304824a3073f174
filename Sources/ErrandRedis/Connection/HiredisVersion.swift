import CHiredis

/// The hiredis version of this build.
package enum HiredisVersion {
    /// The version in its headers, such as `0.14.1`.
    package static var text: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
