import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The bytes of keys sort as the values do, and are the values again when they are read.
@Suite struct KeyOrderTests {
  @Test(arguments: ScalarType.allCases)
  func `edges of a type are in order`(type: ScalarType) throws {
    let edges = SampleValues.edges(type)
    for (one, other) in zip(edges, edges.dropFirst()) {
      #expect(try SampleValues.order(one, other) < 0, "\(one) \(other)")
    }
    for form in SampleKey.forms {
      let key = try SampleKey([(type, form)])
      let values = form.contains(.isOptional) ? [.null] + edges : edges
      let keys = try values.map { try key.encode([$0]) }
      for (value, bytes) in zip(values, keys) {
        #expect(try key.decode(bytes) == [value], "\(value) \(form)")
      }
      for (one, other) in zip(keys, keys.dropFirst()) {
        let order = SampleValues.order(one, other)
        #expect(order == (form.contains(.isDescending) ? 1 : -1), "\(one) \(other) \(form)")
      }
    }
  }

  @Test func `keys of several parts are in the order of their values`() {
    replaying(0..<UInt64(scaled(2000, debug: 100))) { seed in
      var random = SplitMix64(seed: seed)
      let key = try SampleKey.random(using: &random)
      let samples = try (0..<12).map { _ in try key.sample(using: &random) }
      for one in samples {
        try agree(try key.decode(one.key) == one.values, "\(one) is read as another")
        for other in samples {
          let order = SampleValues.order(one.key, other.key)
          try agree(try key.order(one.values, other.values) == order, "\(one) \(other)")
        }
      }
    }
  }

  @Test(arguments: ScalarType.allCases)
  func `a short key is the key, where there is one`(type: ScalarType) throws {
    let isShort = ![.float, .double, .date, .decimal, .string, .url, .binaryData].contains(type)
    for form in SampleKey.forms {
      let key = try SampleKey([(type, form)])
      for value in SampleValues.edges(type) {
        let short = ShortKey([value], of: key.key)
        #expect((short != nil) == (isShort && form.isEmpty), "\(form)")
        if let short { #expect(try short.key.array() == key.encode([value]), "\(value)") }
      }
      #expect(ShortKey([FieldValue.null], of: key.key) == nil)
      #expect(ShortKey([], of: key.key) == nil)
    }
    let other: FieldValue = type == .string ? .integer(1) : .string("1")
    #expect(ShortKey([other], of: try SampleKey([(type, [])]).key) == nil)
  }

  @Test func `zeros and equal decimals are one key`() throws {
    let double = try SampleKey([(.double, [])])
    #expect(try double.encode([.double(-0.0)]) == double.encode([.double(0)]))
    let float = try SampleKey([(.float, [])])
    #expect(try float.encode([.float(-0.0)]) == float.encode([.float(0)]))
    let decimal = try SampleKey([(.decimal, [])])
    let one = try decimal.encode([.decimal(1)])
    #expect(one == [3, 0x80, 1, 11, 0])
    #expect(
      try decimal.encode([.decimal(Decimal(sign: .plus, exponent: -3, significand: 1000))]) == one)
  }

  @Test func `what is not a number is no key`() throws {
    let values: [(ScalarType, FieldValue)] = [
      (.double, .double(.nan)), (.float, .float(.nan)), (.decimal, .decimal(.nan)),
      (.date, .date(Date(timeIntervalSinceReferenceDate: .nan))),
    ]
    for (type, value) in values {
      let key = try SampleKey([(type, [])])
      let error = #expect(throws: StoreError.self) { try key.encode([value]) }
      guard case .invalidValue("Item", "part0", _) = error else {
        Issue.record("\(type): \(error.map { "\($0)" } ?? "")")
        continue
      }
    }
  }

  @Test func `a primary key of one string is its bytes`() throws {
    let key = try SampleKey([(.string, [])])
    #expect(try key.encode([.string("a\0ü")]) == Bytes("a\0ü".utf8))
  }

  @Test func `a primary key is at most a KiB long`() throws {
    let key = try SampleKey([(.string, [])])
    let longest = String(repeating: "x", count: 1024)
    #expect(try key.encode([.string(longest)]).count == 1024)
    let error = #expect(throws: StoreError.self) { try key.encode([.string(longest + "x")]) }
    #expect("\(error.map { "\($0)" } ?? "")".contains("1025 bytes of at most 1024"))
  }

  @Test func `values of another type or out of range are refused`() throws {
    let values: [(ScalarType, FieldValue)] = [
      (.int8, .integer(128)), (.int8, .unsigned(128)), (.uint8, .unsigned(256)), (.string, .null),
      (.uint64, .integer(-1)), (.double, .float(1)), (.date, .double(1)), (.string, .data(Data())),
      (.boolean, .integer(1)), (.uuid, .string("")), (.decimal, .double(1)), (.url, .string("a:b")),
    ]
    for (type, value) in values {
      let key = try SampleKey([(type, [])])
      #expect(throws: StoreError.self, "\(type) \(value)") { try key.encode([value]) }
    }
  }
}
