import FoundationEssentials

/// A kind of content, as its first bytes say. A picture is one that cannot run anything: SVG, which can, is a text here.
enum ContentKind: Equatable {
  case picture(type: String)
  case text
  case bytes

  /// The bytes that are enough to recognize a kind.
  static let recognizedCount = 4096

  /// - Parameter beginning: The first `recognizedCount` bytes.
  init(_ beginning: Data) {
    if let type = Self.pictureType(of: beginning) {
      self = .picture(type: type)
    } else {
      self = beginning.text == nil ? .bytes : .text
    }
  }

  /// The type of the content in a header.
  var type: String {
    switch self {
    case .picture(let type): type
    case .text: "text/plain; charset=utf-8"
    case .bytes: "application/octet-stream"
    }
  }

  private static func pictureType(of bytes: Data) -> String? {
    let magic: [(type: String, start: [UInt8])] = [
      ("image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      ("image/jpeg", [0xff, 0xd8, 0xff]),
      ("image/gif", Array("GIF87a".utf8)),
      ("image/gif", Array("GIF89a".utf8)),
      ("image/bmp", Array("BM".utf8)),
    ]
    if let found = magic.first(where: { bytes.starts(with: $0.start) }) { return found.type }
    let inner = bytes.dropFirst(8)
    if bytes.starts(with: "RIFF".utf8), inner.starts(with: "WEBP".utf8) { return "image/webp" }
    if bytes.dropFirst(4).starts(with: "ftypavif".utf8) { return "image/avif" }
    return nil
  }
}
