import ArgumentParser
import Cambium
import Glibc

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Makes a store of an export, or adds it to one.",
    discussion: """
      The new store gets its name when all of it is there: an import that fails or is interrupted leaves none. \
      With --into, records are added to a store with the same schema, in one commit, and take the place of those with \
      their keys.

      Example: cambium import orders.cambium orders.jsonl
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The export to read; - for standard input.", completion: .file())
  var input: String = "-"

  @Flag(help: "Add to the store, which is there already.")
  var into = false

  @Flag(help: "Replace the store if it is there.")
  var force = false

  func validate() throws {
    if into && force { throw ValidationError("Only one of --into and --force can be meant.") }
  }

  func run() throws {
    let lines = try LineInput(input)
    let header = try ImportHeader(lines)
    Interruption.begin()
    let bar = ProgressBar()
    defer { bar.end() }
    let count: Int
    if into {
      let store = try PersistentStore(untypedAt: arguments.store, options: arguments.writing)
      count = try add(lines, header, to: store, bar)
    } else {
      count = try make(lines, header, bar)
    }
    bar.end()
    StandardOutput.line(
      arguments.json
        ? "\(["records": JSONValue(count)] as JSONValue)"
        : "\(Figures.count(count, "record")) imported into \(arguments.store).")
  }

  private func add(
    _ lines: LineInput, _ header: ImportHeader, to store: PersistentStore, _ bar: ProgressBar
  ) throws -> Int {
    do {
      let found = "\(store.schema.fingerprint)"
      guard found == header.fingerprint else {
        throw CommandFailure(
          .invalid,
          "The store describes its records otherwise: its fingerprint is \(found), the export's \(header.fingerprint)."
        )
      }
      let count = try store.write { transaction in
        try ImportReader(lines, header, bar).run(into: &transaction)
      }
      try store.close()
      return count
    } catch {
      try? store.close()
      throw error
    }
  }

  // MARK: A new store

  private func make(_ lines: LineInput, _ header: ImportHeader, _ bar: ProgressBar) throws -> Int {
    let path = arguments.store.withoutSlashes
    let isThere = unsafe access(path, F_OK) == 0
    if isThere, !force {
      throw CommandFailure(
        .refused, "\(path) is there already. Say --into to add to it, or --force to replace it.")
    }
    if isThere { try checkReplaceable(path) }
    let temporary = path + ".importing-\(getpid())"
    do {
      var options = arguments.writing
      options.access = .writing
      let store = try PersistentStore(at: temporary, model: header.model, options: options)
      let count = try add(lines, header, to: store, bar)
      try replace(path, by: temporary, isThere: isThere)
      return count
    } catch {
      try? PersistentStore.delete(at: temporary)
      throw error
    }
  }

  /// Refuses what is no store, and a store that somebody writes to. Damage is no reason to keep one.
  private func checkReplaceable(_ path: String) throws {
    do {
      let found = try PersistentStore.inspect(at: path, lastCommits: 0, options: arguments.reading)
      if found.isOpenForWriting { throw StoreError.locked(path: path, holder: nil) }
    } catch StoreError.corrupt {}
  }

  /// At every moment there is the old store or the new one, under its name or beside it.
  private func replace(_ path: String, by temporary: String, isThere: Bool) throws {
    let aside = path + ".replaced-\(getpid())"
    if isThere { try move(path, to: aside) }
    try move(temporary, to: path)
    try Self.syncDirectory(of: path)
    if isThere { try PersistentStore.delete(at: aside) }
  }

  private func move(_ path: String, to other: String) throws {
    guard unsafe rename(path, other) == 0 else {
      throw OutputFailure(message: "\(path) cannot be renamed: \(Errno(rawValue: errno)).")
    }
  }

  /// The new name has to survive a power cut.
  private static func syncDirectory(of path: String) throws {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw OutputFailure(
        message: "\(parent) cannot be flushed: \(Errno(rawValue: errno)).")
    }
  }
}

extension String {
  var withoutSlashes: String {
    var text = self[...]
    while text.count > 1, text.last == "/" { text = text.dropLast() }
    return String(text)
  }
}
