// The dashboard depends on this module, so that a program without the trait gets one error that says what to do, and not
// one for each missing module of the HTTP server.
#if !Dashboard
    #error("ErrandDashboard needs the trait Dashboard: .package(url: …, traits: [.defaults, \"Dashboard\"])")
#endif
