/// The environment variables that may contain passwords of Errand: no program that Errand starts gets them.
package enum SecretVariables {
    /// The names of the variables.
    package static let names: Set<String> = [
        "ERRAND_REDIS_URL", "REDIS_URL", "ERRAND_DASHBOARD_PASSWORD", "ERRAND_DASHBOARD_READER_PASSWORD",
    ]
}
