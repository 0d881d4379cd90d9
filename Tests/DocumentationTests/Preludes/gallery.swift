/// The prelude of the article on blobs: a store of photos, whose images lie outside their rows.
struct Photo: Record {
  var id = UUID()
  var title: String
  var image: Blob
  var caption: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "title", type: .string, indexed: true)
    Field(name: "image", type: .binaryData, storage: .external())
    Field(
      name: "caption", type: .string,
      storage: .external(threshold: 1024, compression: .zstd(level: 9), deduplicated: true),
      optional: true)
  }
}

static let model = StoreModel(records: [Photo.self])
static var store: PersistentStore {
  get throws { try PersistentStore(at: "gallery.cambium", model: model) }
}
