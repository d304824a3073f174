/// One fault, its injection, and the expectations.
struct Scenario: Sendable {
    /// Its number in `docs/reliability.md`, for instance `F20`; a letter after it distinguishes variants.
    let id: String
    /// Its description.
    let title: String
    /// Whether it is part of the quick profile.
    let isQuick: Bool
    /// Whether it runs alone, because it uses the whole machine or measures time.
    let isAlone: Bool
    /// Its time limit.
    let limit: Duration
    /// Its requirements on the machine.
    let needs: [Need]
    /// Injects the fault and checks the expectations.
    let body: @Sendable (ScenarioContext) async throws -> Void

    init(
        _ id: String,
        _ title: String,
        quick: Bool = false,
        alone: Bool = false,
        limit: Duration = .seconds(180),
        needs: [Need] = [],
        _ body: @escaping @Sendable (ScenarioContext) async throws -> Void
    ) {
        self.id = id
        self.title = title
        isQuick = quick
        isAlone = alone
        self.limit = limit
        self.needs = needs
        self.body = body
    }
}
