import Testing

/// Tests that need the machine for themselves: one after the other.
@Suite(.serialized) struct LoadTests {}
