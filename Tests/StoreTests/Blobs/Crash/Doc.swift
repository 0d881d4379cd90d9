import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// A document, the same in all versions, however they store it.
struct Doc: Hashable, Sendable {
  var id: Int
  var body: DocContent
  var picture: DocContent?

  init(_ id: Int, _ length: Int, picture: Int? = nil) {
    self.id = id
    body = DocContent(length: length, seed: id)
    self.picture = picture.map { DocContent(length: $0, seed: $0) }
  }

  static let name = "Doc"

  static func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, untyped: [RemovedRecord(name) { version in described(version) }])
  }

  /// Its body is in the row, then outside of it, then under another name, then in the row again.
  @RecordDescription.ResultBuilder
  private static func described(_ version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: "picture", type: .binaryData,
      storage: .external(threshold: 50, deduplicated: true), optional: true)
    switch version {
    case 1: Field(name: bodyName(1), type: .binaryData)
    case 2:
      Field(name: bodyName(2), type: .binaryData, storage: .external(threshold: 100))
    case 3:
      Field(
        name: bodyName(3), type: .binaryData,
        storage: .external(threshold: 5_000, compression: .none),
        migrationInfo: .init(renamingID: bodyName(2)))
      Field(name: "pages", type: .integer, indexed: true, migrationInfo: .init(default: 1))
    default:
      Field(name: bodyName(4), type: .binaryData)
      Field(name: "pages", type: .integer, indexed: true)
    }
  }

  private static func bodyName(_ version: Int) -> String { version < 3 ? "body" : "content" }
}

// MARK: As a record of a version

extension Doc {
  /// - Parameters:
  ///   - bodyBlob: A blob with the body's content, if there is one already.
  ///   - pictureBlob: The same of the picture.
  func record(
    _ version: Int, body bodyBlob: Blob? = nil, picture pictureBlob: Blob? = nil
  ) -> DynamicRecord {
    var record = DynamicRecord(Self.name, ["id": .integer(Int64(id))])
    record[Self.bodyName(version)] = bodyBlob.map { .blob($0) } ?? .data(body.data)
    if let picture { record["picture"] = pictureBlob.map { .blob($0) } ?? .data(picture.data) }
    if version > 2 { record["pages"] = 1 }
    return record
  }

  /// Throws unless a record holds this document.
  func check(_ record: DynamicRecord, _ version: Int) throws {
    let found = try record[Self.bodyName(version)].content
    try agree(found == body.data, "the body of \(id) is \(found?.count ?? -1) other bytes")
    let picture = try record["picture"].content
    try agree(picture == self.picture?.data, "the picture of \(id) is another")
    if version > 2 { try agree(record["pages"] == 1, "\(id) has \(record["pages"]) pages") }
  }
}

extension FieldValue {
  /// The bytes of binary data, wherever they are.
  fileprivate var content: Data? {
    get throws {
      switch self {
      case .data(let data): data
      case .blob(let blob): try blob.data()
      default: nil
      }
    }
  }
}

/// Bytes by a length and a seed. Half of them compress.
struct DocContent: Hashable, Sendable {
  let length: Int
  let seed: Int

  /// One content for all, which each takes a piece of: making one for each would be most of the time.
  private static let pool = PhotoContent.bytes(400_000)

  var data: Data { data(0..<length) }

  /// A part of it.
  func data(_ range: Range<Int>) -> Data {
    let start = seed % 1_000 * 64
    return Data(Self.pool[start + range.lowerBound..<start + range.upperBound])
  }
}
