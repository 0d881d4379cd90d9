import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What `FORMAT.md` shows of keys and rows is what the code makes.
@Suite struct RecordFormatTests {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument()
  }

  @Test func `keys have the bytes shown`() throws {
    var types: Set<ScalarType> = []
    for row in try document.table("Keys, worked") {
      let type = try #require(ScalarType.allCases.first { "\($0)" == row["type"] })
      let form = try form(#require(row["form"]))
      let key = try SampleKey([(type, form)], endsKey: form.contains(.isLast))
      let text = try #require(row["value"]).replacing("␀", with: "\0")
      let bytes = try key.encode([try #require(value(type, text))])
      let shown = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      #expect(row["bytes"] == "`\(shown.joined(separator: " "))`", "\(row)")
      types.insert(type)
    }
    // Other widths are like those shown.
    #expect(
      Set(ScalarType.allCases).subtracting(types) == [.int16, .int64, .uint8, .uint32, .uint64])
  }

  private func form(_ text: String) throws -> KeyForm {
    var form: KeyForm = []
    for word in text.split(separator: " ") {
      switch word {
      case "optional": form.insert(.isOptional)
      case "descending": form.insert(.isDescending)
      case "caseless": form.insert(.isCaseInsensitive)
      case "last": form.insert(.isLast)
      default: try agree(word == "ascending", "there is no form \(word)")
      }
    }
    return form
  }

  private func value(_ type: ScalarType, _ text: String) -> FieldValue? {
    if text == "null" { return .null }
    return switch type {
    case .boolean: .boolean(text == "true")
    case .int8, .int16, .int32, .int64: Int64(text).map { .integer($0) }
    case .uint8, .uint16, .uint32, .uint64: UInt64(text).map { .unsigned($0) }
    case .float: Float(text).map { .float($0) }
    case .double: Double(text).map { .double($0) }
    case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .decimal: Decimal(string: text).map { .decimal($0) }
    case .string: .string(text)
    case .url: URL(string: text).map { .url($0) }
    case .binaryData: .data(Data(text.utf8))
    }
  }

  @Test func `the row shown is that of its values`() throws {
    let layout = try RowLayout(SampleRecord.eightFields, version: 1)
    let record = DynamicRecord(
      "Item",
      [
        "id": .uuid(UUID()), "creationDate": .date(Date(timeIntervalSinceReferenceDate: 1)),
        "name": .string("Ann"), "city": .string("Köln"), "age": .integer(42),
        "score": .double(0.5), "isActive": .boolean(true), "note": .null,
      ])
    let row = RowWriter()
    try record.encode(to: row, key: KeyEncoder(), layout: layout)
    #expect(try bytes("A row, worked") == row.row.array())
  }

  @Test func `the array shown is that of its elements`() throws {
    var writer = ArrayWriter(of: .string)
    for text in ["a", "", "bc"] { writer.append(Bytes(text.utf8).rawSpan) }
    #expect(try bytes("An array, worked") == writer.finish())
  }

  @Test func `the part of a history shown is that of its changes`() throws {
    var part = HistoryPart(date: 1, author: "me")
    part.append(.inserted, record: 7, version: 1, key: [0x61], old: nil)
    part.append(.deleted, record: 7, version: 1, key: [0x62], old: [0, 0, 0x78])
    #expect(try bytes("A history part, worked") == part.bytes)
    let key = HistoryKey(sequence: 258, part: 0)
    #expect(key.bytes == [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0])
    let shown = try bytes("A history part, worked")
    var reader = HistoryPartReader(shown.rawSpan, key: key)
    let commit = try reader.commit()
    #expect(commit.date == 1 && commit.author == "me")
    let first = try reader.next()
    #expect(first?.kind == .inserted && first?.old == nil && first?.key == [0x61])
    let second = try reader.next()
    #expect(second?.kind == .deleted && second?.old == [0, 0, 0x78] && second?.record == 7)
    #expect(try reader.next() == nil)
  }

  private func bytes(_ heading: String) throws -> Bytes {
    var bytes: Bytes = []
    for line in try document.hex(heading) {
      try agree(line.offset == bytes.count, "\(line)")
      bytes += line.bytes
    }
    return bytes
  }
}
