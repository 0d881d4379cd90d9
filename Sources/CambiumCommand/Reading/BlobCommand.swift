import ArgumentParser
import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct BlobCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "blob", abstract: "Writes the content of blobs.",
    discussion: """
      Example: cambium blob cat gallery.cambium Picture content 7 --output 7.jpeg
      """,
    subcommands: [BlobCatCommand.self])
}

struct BlobCatCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cat", abstract: "Writes the content of a blob, of data or of a string.",
    discussion: """
      The content is written as it is, in pieces: it may be larger than the memory. On a terminal it is refused; use \
      --output or a pipe. With --json it is an object with the size and the content, a string or base64; with --output as \
      well, the content goes to the file. A file gets its name when it is complete. Ends with status 8 if there is no such \
      record, or if the field is null.

      Example: cambium blob cat gallery.cambium Picture content 7 --output 7.jpeg
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the record, by its stored name.")
  var type: String

  @Argument(help: "The field; address.photo for a part of a composite.")
  var field: String

  @Argument(help: "The parts of the primary key, as for get.")
  var key: [String]

  @OptionGroup var file: OutputArguments

  func run() throws {
    let (record, shape) = try arguments.snapshot().record(type, key: key)
    let content = try BlobContents(of: record, field, shape)
    if let file = try file.create(of: arguments.store) {
      try content.forEachPiece { try file.write($0) }
      try file.close()
      let size = JSONValue(content.count)
      return StandardOutput.line(
        arguments.json
          ? "\(["bytes": size] as JSONValue)"
          : "\(Figures.count(content.count, "byte")) written to \(self.file.output ?? "").")
    }
    if arguments.json { return try content.writeJSON() }
    guard !Terminal.isOutput else {
      throw CommandFailure(
        .refused, "The content may be anything, and is not written to a terminal. Use --output.")
    }
    try content.forEachPiece { StandardOutput.write($0) }
  }
}

/// The content of a field, as bytes.
private struct BlobContents {
  private let blob: Blob
  private let isString: Bool

  /// - Throws: `CommandFailure` if the field does not exist, is null or has no bytes.
  init(of record: DynamicRecord, _ field: String, _ shape: RecordShape) throws {
    guard let value = record.value(at: field) else {
      throw CommandFailure.unknown(
        "field", field, in: shape.name, known: shape.fields.map(\.name))
    }
    switch value {
    case .blob(let blob): self.blob = blob
    case .data(let data): blob = Blob(data)
    case .string(let text): blob = Blob(Data(text.utf8))
    case .null:
      throw CommandFailure(.notFound, "\(field.inOneLine) of the record is null.")
    default:
      throw CommandFailure(
        .usage, "\(field.inOneLine) is neither a blob nor data nor a string: use get.")
    }
    isString = shape.hasString(at: field)
  }

  var count: Int { blob.count }

  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and errors of `body`.
  func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
    let reader = try blob.reader()
    while let piece = try reader.read(upTo: 1 << 18) { try body(Array(piece)) }
  }

  /// - Throws: as `forEachPiece`.
  func writeJSON() throws {
    StandardOutput.write("{\"bytes\":\(count),\"content\":\"")
    if isString {
      try blob.writeText { StandardOutput.write(JSONValue.escaped($0)) }
    } else {
      try blob.writeBase64(to: StandardOutput.write)
    }
    StandardOutput.line("\"}")
  }
}

extension RecordShape {
  /// Returns true if the field, or the part of a composite, with a name is a string.
  fileprivate func hasString(at path: String) -> Bool {
    func has(_ path: Substring, _ fields: [FieldShape]) -> Bool {
      fields.contains { field in
        path == field.name && field.isString
          || path.hasPrefix(field.name + ".")
            && has(path.dropFirst(field.name.count + 1), field.parts)
      }
    }
    return has(path[...], fields)
  }
}
