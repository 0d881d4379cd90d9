/// The prelude of the article on blobs: a store of photos, whose images lie outside their rows.
struct Photo: Record {
  var id = UUID()
  var title: String
  var image: Blob
  var caption: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("title", indexed: true)
    Field("image", storage: .external())
    Field(
      "caption",
      storage: .external(threshold: 1024, compression: .zstd(level: 9), deduplicated: true))
  }
}

static let model = StoreModel(records: [Photo.self])
static var store: PersistentStore {
  get throws { try PersistentStore(at: "gallery.cambium", model: model) }
}
