import Testing

@testable import Cambium

@Suite struct NestedCompositeTests {
  private static let none = Destinations(version: 1, [:])

  /// A composite of composites, so many deep.
  private func nested(_ depth: Int) -> FieldType {
    var type = FieldType.integer
    for _ in 0..<depth {
      let inner = type
      type = .composite { Field(name: "a", type: inner) }
    }
    return type
  }

  @Test func `composites nest a hundred deep, and not one deeper`() throws {
    _ = try Field(name: "a", type: nested(99)).column(among: Self.none)
    let fault = #expect(throws: DescriptionFault.self) {
      try Field(name: "a", type: nested(100)).column(among: Self.none)
    }
    #expect(fault?.reason.contains("more than 100 deep") == true)
  }

  @Test func `types nested twenty thousand deep are refused, and forgotten`() throws {
    #expect(throws: DescriptionFault.self) {
      try Field(name: "a", type: nested(20_000)).column(among: Self.none)
    }
    var array = FieldType.integer
    for _ in 0..<20_000 { array = .array(of: array) }
    #expect(throws: DescriptionFault.self) {
      try Field(name: "a", type: array).column(among: Self.none)
    }
  }
}
