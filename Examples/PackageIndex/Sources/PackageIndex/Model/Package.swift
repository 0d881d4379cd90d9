import Cambium

/// A package of a Debian or Ubuntu archive, as the program of today knows it.
///
/// The description says what is stored in each version: stores of any of them can be opened. What changes
/// from one to the next and does not follow from it is in `Steps.swift`.
struct Package: Record {
  var name: String
  var version: String
  var section: String
  /// The key of a `Maintainer`.
  var maintainer: String
  /// In KiB.
  var installedSize: Int
  /// Of the file to download, in bytes.
  var size: Int
  var summary: String
  /// All that apt says of it; read when asked for.
  var description: Blob
  var isHeld = false

  static func recordDescription(for version: Int) -> RecordDescription {
    if version < 2 {
      Field("package", primaryKey: true, property: "name")
    } else {
      Field("name", primaryKey: true, migrationInfo: .init(renamingID: "package"))
    }
    Field("version")
    Field("section", indexed: true)
    Field("maintainer", indexed: version >= 3)
    Field("installedSize", type: version < 2 ? .string : .integer)
    Field("size", type: version < 2 ? .string : .integer, indexed: version >= 2)
    Field("summary")
    if version < 4 {
      Field("description")
    } else {
      Field("description", storage: .external(threshold: 512))
    }
    if version >= 2 {
      Field("isHeld", migrationInfo: .init(default: false))
    }
  }
}
