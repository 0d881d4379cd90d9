import Testing

@testable import Cambium

@Suite struct ScalarTypeTests {
  @Test func `a type widens to those that have all of its values and more`() {
    let wider: [ScalarType: Set<ScalarType>] = [
      .int8: [.int16, .int32, .int64, .float, .double],
      .int16: [.int32, .int64, .float, .double],
      .int32: [.int64, .double],
      .uint8: [.uint16, .uint32, .uint64, .int16, .int32, .int64, .float, .double],
      .uint16: [.uint32, .uint64, .int32, .int64, .float, .double],
      .uint32: [.uint64, .int64, .double],
      .float: [.double],
    ]
    for type in ScalarType.allCases {
      #expect(Set(ScalarType.allCases.filter { type.widens(to: $0) }) == wider[type] ?? [])
    }
  }

  @Test func `each type has a Swift type, whose values it names as they are`() {
    for type in ScalarType.allCases {
      #expect(type.swiftType.scalarType == type)
      #expect(ScalarType.swiftType(type.swiftType)?.scalarType == type)
      #expect((type.integer != nil) == type.isInteger)
    }
  }
}
