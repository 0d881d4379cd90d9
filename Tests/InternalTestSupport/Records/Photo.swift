import FoundationEssentials
import TestSupport

@testable import Cambium

/// A record with every kind of external field.
struct Photo: Record, Equatable {
  var id: Int
  var name: String
  var image: Blob
  var preview: Data?
  var notes: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "image", type: .binaryData, storage: .external(threshold: 100))
    Field(
      name: "preview", type: .binaryData,
      storage: .external(threshold: 50, deduplicated: true), optional: true)
    Field(
      name: "notes", type: .string, storage: .external(threshold: 200, compression: .none))
  }

  init(_ id: Int, image: Int, preview: Int? = nil, notes: Int = 0) {
    self.id = id
    name = "photo \(id)"
    self.image = Blob(PhotoContent.bytes(image, seed: UInt64(id)))
    self.preview = preview.map { PhotoContent.bytes($0, seed: UInt64($0)) }
    self.notes = PhotoContent.text(notes)
  }

  static var model: StoreModel { StoreModel(version: 1, records: [Photo.self]) }

  /// How many of its values lie outside of its row.
  var externalCount: Int {
    (image.count > 100 ? 1 : 0) + ((preview?.count ?? 0) > 50 ? 1 : 0)
      + (notes.utf8.count > 200 ? 1 : 0)
  }
}

/// Contents for blobs: of a length, and the same for the same seed.
enum PhotoContent {
  static func bytes(_ count: Int, seed: UInt64 = 0) -> Data {
    var generator = SplitMix64(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = generator.next()
      // Half of it compresses.
      for byte in 0..<8 {
        bytes.append(byte < 4 ? 7 : UInt8(truncatingIfNeeded: word >> (8 * byte)))
      }
    }
    return Data(bytes.prefix(count))
  }

  static func text(_ count: Int) -> String {
    String((0..<count).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
  }
}

extension PersistentStore {
  /// Everything that a check finds, contents of blobs too.
  func faults() throws -> [StoreError] { try snapshot().check(readingBlobs: true) }
}
