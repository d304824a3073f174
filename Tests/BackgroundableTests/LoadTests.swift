import Testing

/// Tests that need the whole machine, one after the other.
@Suite(.serialized) struct LoadTests {}
