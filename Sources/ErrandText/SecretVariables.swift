/// The variables of the environment in which passwords of Errand's own may be: no program that it starts gets them.
package enum SecretVariables {
    /// Their names.
    package static let names: Set<String> = [
        "ERRAND_REDIS_URL", "REDIS_URL", "ERRAND_DASHBOARD_PASSWORD", "ERRAND_DASHBOARD_READER_PASSWORD",
    ]
}
