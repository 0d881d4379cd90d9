import Cambium
import FoundationEssentials

/// The content of a field: of a blob, of data or of a string.
enum RecordContent {
  /// Returns the content with its type. The first bytes are read here, so that damage to them is an error of the page. Damage
  /// further on ends the connection early.
  ///
  /// - Throws: `PageFault` if there is no such record or content; `StoreError.corrupt`, `.missing`, `.io`.
  static func response(
    _ state: StoreSnapshot, _ request: BrowserRequest
  ) throws -> BrowserResponse {
    let schema = try state.schema.type(of: request)
    let key = try RecordKey(request, in: state.schema)
    let path = request.value("field") ?? ""
    let blob: Blob
    switch try key.record(in: state, schema).value(path) {
    case .blob(let content): blob = content
    case .data(let data): blob = Blob(data)
    case .string(let text): blob = Blob(utf8: text)
    default: throw PageFault(404, "\(schema.name) \(key.text) has no content in “\(path)”.")
    }
    let kind = ContentKind(try blob.beginning(ContentKind.recognizedCount))
    let response = BrowserResponse(200, kind.type, blob)
    // Bytes that are no picture and no text are saved, not shown.
    return kind == .bytes ? response.with("Content-Disposition", "attachment") : response
  }
}

extension DynamicRecord {
  /// Returns the value of a field, or of a part of a composite: `address.photo`.
  fileprivate func value(_ path: String) -> FieldValue? {
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return names.dropFirst().reduce(fields[names[0]]) { value, name in
      if case .composite(let parts)? = value { parts[name] } else { nil }
    }
  }
}

extension Data {
  /// The bytes in hexadecimal digits, sixteen a line.
  var hexadecimal: String {
    var text = ""
    for (place, byte) in enumerated() {
      if place > 0 { text += place % 16 == 0 ? "\n" : " " }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return text
  }
}
