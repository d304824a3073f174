/// One fault, how it is made to happen, and what must hold.
struct Scenario: Sendable {
    /// Its number in `docs/reliability.md`, for instance `F20`; a letter behind it tells variants apart.
    let id: String
    /// What happens, in words.
    let title: String
    /// Whether it is part of the quick profile.
    let isQuick: Bool
    /// Whether nothing may be played beside it, because it takes the whole machine or measures it.
    let isAlone: Bool
    /// For how long it may go on at the most.
    let limit: Duration
    /// What it needs of the machine.
    let needs: [Need]
    /// Makes it happen, and says what must hold.
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
