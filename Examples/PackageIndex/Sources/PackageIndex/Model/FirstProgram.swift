import Cambium
import FoundationEssentials

/// The program of the first week, which made the store: all is text, as apt prints it.
enum FirstProgram {
  struct Package: Record {
    var package: String
    var version: String
    var section: String
    var maintainer: String
    var installedSize: String
    var size: String
    var summary: String
    var description: Data

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("package", primaryKey: true)
      Field("version")
      Field("section", indexed: true)
      Field("maintainer")
      Field("installedSize")
      Field("size")
      Field("summary")
      Field("description")
    }
  }

  static let model = StoreModel(version: 1, records: [Package.self])
}

extension FirstProgram.Package {
  /// nil for a paragraph that is no package.
  init?(_ paragraph: ControlParagraph) {
    guard let name = paragraph["Package"] else { return nil }
    self.init(
      package: name,
      version: paragraph["Version"] ?? "",
      section: paragraph["Section"] ?? "",
      maintainer: paragraph["Maintainer"] ?? "",
      installedSize: paragraph["Installed-Size"] ?? "",
      size: paragraph["Size"] ?? "",
      summary: paragraph["Description"] ?? "",
      description: Data(paragraph.text.utf8))
  }
}
