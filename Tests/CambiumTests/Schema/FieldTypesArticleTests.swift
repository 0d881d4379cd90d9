import FoundationEssentials
import InternalTestSupport
import Testing

@testable import Cambium

/// The tables of the article on field types say what the library does.
@Suite struct FieldTypesArticleTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/Sources/Cambium/\(path)", encoding: .utf8)
  }

  /// The cells of all rows of tables in the article, without marks.
  private static func rows() throws -> [[String]] {
    try text(of: "Cambium.docc/FieldTypes.md").split(separator: "\n").filter {
      $0.hasPrefix("|") && !$0.hasPrefix("|-")
    }
    .map { row in
      row.split(separator: "|").map { cell in
        cell.replacing(/[*`]/, with: "").trimmingPrefix(/\s+/).replacing(/\s+$/, with: "")
      }.map(String.init)
    }
  }

  private static let swiftTypes: [(name: String, type: any Any.Type)] = [
    ("Int", Int.self), ("Int8", Int8.self), ("Int16", Int16.self), ("Int32", Int32.self),
    ("Int64", Int64.self), ("UInt", UInt.self), ("UInt8", UInt8.self), ("UInt16", UInt16.self),
    ("UInt32", UInt32.self), ("UInt64", UInt64.self), ("Float", Float.self),
    ("Double", Double.self), ("Decimal", Decimal.self), ("String", String.self),
    ("Bool", Bool.self), ("Date", Date.self), ("Data", Data.self), ("UUID", UUID.self),
    ("URL", URL.self),
  ]

  @Test func `the article lists every type, its properties and its values`() throws {
    let declared = try Self.text(of: "Schema/Declaration/FieldType.swift")
      .matches(of: /public static (?:let|func) (\w+)/).map { String($0.1) }
    #expect(declared.count > 20)
    let rows = try Self.rows().filter { $0.count == 4 }.dropFirst()
    let listed = rows.map { $0[0].replacing(/\(.*/, with: "") }
    #expect(listed.sorted() == declared.sorted())
    let cases = try Set(
      Self.text(of: "Schema/FieldValue.swift").matches(of: /\n  case (\w+)/).map { String($0.1) })
    #expect(cases.count > 10)
    // Null is of no type, and a blob of those that are stored externally.
    #expect(Set(rows.map { String($0[2].dropFirst()) }).union(["null", "blob"]) == cases)
    for row in rows {
      guard let scalar = ScalarType.allCases.first(where: { "\($0)" == row[0] }) else { continue }
      #expect(
        Self.samples(scalar).allSatisfy { $0.caseName.map { "." + $0 } == row[2] }, "\(row[0])")
      #expect(row[3].hasPrefix("yes") == ColumnType.scalar(scalar).canBeKey)
      let named = Self.swiftTypes.filter { type in
        row[1].split(separator: /[, ]+/).contains { $0 == type.name }
      }
      let held = Self.swiftTypes.filter { ScalarType.swiftType($0.type)?.scalarType == scalar }
      #expect(named.map(\.name) == held.map(\.name), "\(row[0])")
    }
  }

  private static let groups: [(name: String, types: [ScalarType])] = [
    ("boolean", [.boolean]),
    ("integers", [.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64]),
    ("float", [.float]), ("double", [.double]), ("decimal", [.decimal]), ("string", [.string]),
    ("date", [.date]), ("uuid", [.uuid]), ("url", [.url]), ("binaryData", [.binaryData]),
  ]

  @Test func `the article says which values convert`() throws {
    let rows = try Self.rows().filter { $0.count == Self.groups.count + 1 }
    var expected = [[""] + Self.groups.map(\.name)]
    for source in Self.groups {
      expected.append(
        [source.name] + Self.groups.map { Self.outcome(from: source.types, to: $0.types) })
    }
    #expect(
      rows == expected, "\(expected.map { $0.joined(separator: " | ") }.joined(separator: "\n"))")
  }

  /// Whether all, some or none of the sample values of some types convert to others.
  private static func outcome(from sources: [ScalarType], to targets: [ScalarType]) -> String {
    var results: Set<Bool> = []
    for source in sources {
      for value in samples(source) {
        for target in targets { results.insert(value.converting(to: .scalar(target)) != nil) }
      }
    }
    return results == [true] ? "all" : results == [false] ? "none" : "some"
  }

  /// Values at the edges of a type, and between.
  private static func samples(_ type: ScalarType) -> [FieldValue] {
    switch type {
    case .boolean: [true, false]
    case .int8: [.integer(-128), 0, 1, 127]
    case .int16: [.integer(-32_768), 0, 1, 32_767]
    case .int32: [.integer(Int64(Int32.min)), 0, 1, .integer(Int64(Int32.max))]
    case .int64: [.integer(.min), 0, 1, .integer(.max)]
    case .uint8: [.unsigned(0), .unsigned(1), .unsigned(255)]
    case .uint16: [.unsigned(0), .unsigned(1), .unsigned(65_535)]
    case .uint32: [.unsigned(0), .unsigned(1), .unsigned(UInt64(UInt32.max))]
    case .uint64: [.unsigned(0), .unsigned(1), .unsigned(.max)]
    case .float: [0, 0.1, 1, .infinity, .nan, .greatestFiniteMagnitude].map { .float($0) }
    case .double: [0, 0.1, 1, .infinity, .nan, .greatestFiniteMagnitude].map { .double($0) }
    case .decimal: [0, 1, Decimal(1) / 3, .nan, .greatestFiniteMagnitude].map { .decimal($0) }
    case .date: [0, 0.5, 1e9, -1e12].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: [.uuid(UUID())]
    case .url: [URL(string: "https://example.org/a?b=c")].compactMap { $0.map { .url($0) } }
    case .binaryData: [.data(Data()), .data(Data([0xff])), .data(Data("1".utf8))]
    case .string:
      [
        "", "text", "1", "1.5", "true", "https://example.org", "2020-01-01T00:00:00Z",
        "01020304-0506-0708-090A-0B0C0D0E0F10",
      ]
    }
  }
}

extension FieldValue {
  fileprivate var caseName: String? { Mirror(reflecting: self).children.first?.label }
}
