import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Descriptions of everything that can be, as random as they may be and still right.
enum RandomDescription {
  private static let columns: [FieldType] = [
    .boolean, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
    .decimal, .string, .date, .binaryData, .uuid, .url,
  ]
  /// A default for each.
  private static let defaults: [FieldValue] = [
    true, -5, 300, -70_000, 1_099_511_627_776, 200, 60_000, 7, .unsigned(.max), 0.5, -1e300,
    .decimal(12), "é", .date(Date(timeIntervalSinceReferenceDate: 0.5)), .data(Data([0, 255])),
    "00112233-4455-6677-8899-AABBCCDDEEFF", "http://a/b?c",
  ]

  static func make(_ random: inout SplitMix64) -> RecordDescription {
    var elements: [RecordDescription.Element] = []
    var names: [String] = []
    for index in 0..<Int.random(in: 1...9, using: &random) {
      let name = "\(["f", "å", "名", "F"].randomElement(using: &random) ?? "")\(index)"
      names.append(name)
      elements +=
        RecordDescription.ResultBuilder.buildExpression(
          field(name, isKey: index == 0, &random)
        ).elements
    }
    let keys = 1 + Int(random.next() % 2)
    for index in 0..<Int.random(in: 0...3, using: &random) {
      let condition =
        index > 0 ? FieldCondition.comparison(field: names[0], .notEqual, nil) : nil
      let nested = condition.map { FieldCondition.or([.not($0), .and([$0, $0])]) }
      elements +=
        RecordDescription.ResultBuilder.buildExpression(
          keys == 1
            ? Index(
              .descending(names[0]), named: "i\(index)", where: index == 2 ? nested : condition)
            : Index(
              .ascending(names[0]), named: "i\(index)", where: index == 2 ? nested : condition)
        ).elements
    }
    for element in elements {
      guard case .field(let field) = element.kind, field.storage.options == nil,
        let (type, _) = try? field.type.column(among: Destinations(version: 1, [:]))
      else { continue }
      let parts: [KeyField] =
        switch type {
        case .array: [.elements(field.name), .descending(names[0])]
        case .scalar(.string):
          [Bool.random(using: &random) ? .words(field.name) : .collated(field.name, by: .german)]
        default: []
        }
      guard !parts.isEmpty, Bool.random(using: &random) else { continue }
      let isUnique = parts.count > 1 && Bool.random(using: &random)
      elements.append(
        .init(kind: .index(.init(fields: parts, name: nil, isUnique: isUnique, condition: nil))))
    }
    if Bool.random(using: &random) {
      elements += RecordDescription.ResultBuilder.buildExpression(RecordModifier("m")).elements
    }
    return description { RecordDescription(elements) }
  }

  private static func field(_ name: String, isKey: Bool, _ random: inout SplitMix64) -> Field {
    let place = Int.random(in: columns.indices, using: &random)
    let column = columns[place]
    let value = Bool.random(using: &random) ? Optional(defaults[place]) : .none
    if isKey { return Field(primaryKey: true, name: name, type: column) }
    let modifier = random.next() % 4 == 0 ? "x" : nil
    let isOptional = Bool.random(using: &random)
    if let storage = externalStorage(&random) {
      return Field(
        name: name, type: Bool.random(using: &random) ? .binaryData : .string, storage: storage,
        optional: isOptional, modifier: modifier)
    }
    let kind = random.next() % 6
    let type: FieldType =
      switch kind {
      case 0: .transformable(using: ReversingCodec())
      case 1: .array(of: column)
      case 2:
        .composite {
          Field(name: "a", type: column, default: value)
          Field(name: "b", type: .composite { Field(name: "c", type: column, optional: true) })
          Field(name: "s", type: .string)
          Field(
            name: "d", type: .string,
            derived: random.pick([
              .lowercased("s"), .folded("s"), .value("lowercased(s ?? \"none\")"),
            ]))
          Field(name: "t", type: .date, derived: .modificationDate)
        }
      default: column
      }
    return Field(
      name: name, type: type, optional: isOptional,
      default: kind == 1 ? value.map { .array([$0, $0]) } : kind > 2 ? value : nil,
      modifier: modifier)
  }

  /// Of every fifth field.
  private static func externalStorage(_ random: inout SplitMix64) -> FieldStorage? {
    if random.next() % 5 > 0 { return nil }
    let level = Int.random(in: BlobCompression.levels, using: &random)
    return .external(
      threshold: [0, 1, 4096, 1 << 20].randomElement(using: &random) ?? 0,
      compression: Bool.random(using: &random) ? .none : .zstd(level: level),
      deduplicated: Bool.random(using: &random))
  }
}
