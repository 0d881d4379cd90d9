import Cambium

/// Who looks after packages, since version 3.
struct Maintainer: Record {
  var address: String
  var name: String

  @RecordDescription.ResultBuilder
  static func recordDescription(for version: Int) -> RecordDescription {
    if version >= 3 {
      Field("address", primaryKey: true)
      Field("name")
    }
  }
}

extension Maintainer {
  /// Reads `Ada Lovelace <ada@example.org>`; what has no address is its own.
  init(parsing text: String) {
    guard let start = text.lastIndex(of: "<") else {
      self.init(address: text, name: text)
      return
    }
    let name = text[..<start].split(separator: " ").joined(separator: " ")
    self.init(address: String(text[start...].dropFirst().prefix { $0 != ">" }), name: name)
  }
}
