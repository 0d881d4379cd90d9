import Cambium

/// A record with a blob.
struct BlobRecord: Record {
  var id: Int
  var content: Blob

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "content", type: .binaryData, storage: .external())
  }

  static let model = StoreModel(records: [BlobRecord.self])
}
