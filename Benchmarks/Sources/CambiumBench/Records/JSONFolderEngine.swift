import FoundationEssentials
import Glibc

/// A folder with a JSON file for each record, written to a temporary file that is given its name then.
///
/// Durable: the file is flushed before it is named, and the folder afterwards; of several records, at the end.
final class JSONFolderEngine: RecordEngine {
  static let version = "JSONEncoder, a file for each record"

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (fsync of file and folder); records not together"
    case .relaxed: "survives a killed process; a power cut may leave empty files"
    }
  }

  private let folder: String
  private let isDurable: Bool
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init(directory: String, options: RecordOptions) {
    folder = directory
    isDurable = options.durability == .durable
  }

  func open() {}
  func close() throws { try flush(folder, O_DIRECTORY) }

  // MARK: Writing

  func insertEach(_ items: ArraySlice<Item>) throws { for item in items { try insert([item]) } }
  func saveEach(_ items: ArraySlice<Item>) throws { try insertEach(items) }
  func insert(_ items: ArraySlice<Item>) throws { try write(items) }
  func update(_ items: ArraySlice<Item>) throws { try write(items) }

  func delete(_ items: ArraySlice<Item>) throws {
    for item in items { try check(unsafe unlink(path(of: item.id)) == 0, "unlink") }
    if isDurable { try flush(folder, O_DIRECTORY) }
  }

  private func write(_ items: ArraySlice<Item>) throws {
    for item in items {
      let path = path(of: item.id)
      try write(try encoder.encode(item), to: path + ".new")
      try check(unsafe rename(path + ".new", path) == 0, "rename")
    }
    if isDurable { try flush(folder, O_DIRECTORY) }
  }

  private func write(_ data: Data, to path: String) throws {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try check(descriptor >= 0, "open")
    defer { Glibc.close(descriptor) }
    let count = unsafe data.withUnsafeBytes { bytes in
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
    try check(count == data.count, "write")
    if isDurable { try check(fsync(descriptor) == 0, "fsync") }
  }

  private func flush(_ path: String, _ flags: Int32) throws {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | flags)
    try check(descriptor >= 0, "open")
    defer { Glibc.close(descriptor) }
    try check(fsync(descriptor) == 0, "fsync")
  }

  // MARK: Reading

  func fetch(_ ids: [UUID]) throws -> ItemDigest {
    var digest = ItemDigest()
    for id in ids { digest.add(try item(at: path(of: id))) }
    return digest
  }

  func fetchEach(_ ids: [UUID]) throws -> ItemDigest { try fetch(ids) }

  func scan(_ body: (Item) throws -> Void) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try body(try item(at: "\(folder)/\(name)"))
    }
  }

  private func item(at path: String) throws -> Item {
    try decoder.decode(Item.self, from: Data(contentsOf: URL(filePath: path)))
  }

  private func path(of id: UUID) -> String { "\(folder)/\(id.uuidString).json" }

  private func check(_ succeeded: Bool, _ call: String) throws {
    guard succeeded else {
      throw RecordEngineError(engine: .json, message: "\(call): errno \(errno)")
    }
  }
}
