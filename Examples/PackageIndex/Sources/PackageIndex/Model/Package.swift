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
      Field(primaryKey: true, name: "package", type: .string, property: "name")
    } else {
      Field(
        primaryKey: true, name: "name", type: .string,
        migrationInfo: .init(renamingID: "package"))
    }
    Field(name: "version", type: .string)
    Field(name: "section", type: .string, indexed: true)
    Field(name: "maintainer", type: .string, indexed: version >= 3)
    Field(name: "installedSize", type: version < 2 ? .string : .integer)
    Field(name: "size", type: version < 2 ? .string : .integer, indexed: version >= 2)
    Field(name: "summary", type: .string)
    if version < 4 {
      Field(name: "description", type: .binaryData)
    } else {
      Field(name: "description", type: .binaryData, storage: .external(threshold: 512))
    }
    if version >= 2 {
      Field(name: "isHeld", type: .boolean, migrationInfo: .init(default: false))
    }
  }
}
