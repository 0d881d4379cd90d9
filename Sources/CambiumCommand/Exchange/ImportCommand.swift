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
    let isThere = unsafe access(arguments.store, F_OK) == 0
    if isThere, !force {
      throw CommandFailure(
        .refused,
        "\(arguments.store) is there already. Say --into to add to it, or --force to replace it.")
    }
    let temporary = arguments.store.withoutSlashes + ".importing-\(getpid())"
    do {
      var options = arguments.writing
      options.access = .writing
      let store = try PersistentStore(at: temporary, model: header.model, options: options)
      let count = try add(lines, header, to: store, bar)
      if isThere { try PersistentStore.delete(at: arguments.store) }
      guard unsafe rename(temporary, arguments.store) == 0 else {
        throw OutputFailure(
          message: "\(arguments.store) cannot be made: \(Errno(rawValue: errno)).")
      }
      try Self.syncDirectory(of: arguments.store.withoutSlashes)
      return count
    } catch {
      try? PersistentStore.delete(at: temporary)
      throw error
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
