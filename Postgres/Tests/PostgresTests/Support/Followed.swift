import Cambium
import CambiumPostgres
import CambiumTesting
import FoundationEssentials
import Glibc
import Testing

/// A store with a history and a database of its own, on the way from one to the other.
final class Followed {
  let path: String
  let address: String
  private(set) var store: PersistentStore
  private let model: StoreModel

  init(
    _ name: String, _ model: StoreModel = Workshop.model, keepsHistory: Bool = true,
    on server: PostgresServer? = .shared
  ) throws {
    let server = try #require(server)
    path = Workshop.directory(name)
    address = try server.makeDatabase(name)
    self.model = model
    store = try PersistentStore(
      at: path, model: model, options: Self.options(keepsHistory: keepsHistory))
  }

  deinit {
    try? store.close()
    try? PersistentStore.delete(at: path)
  }

  private static func options(keepsHistory: Bool = true) -> StoreOptions {
    var options = StoreOptions()
    options.history = keepsHistory ? .keptForever : nil
    return options
  }

  /// Closes the store, runs `body`, and opens it again: for reading, if it is fenced.
  func whileClosed<Result>(_ body: () throws -> Result) throws -> Result {
    try store.close()
    defer {
      var reading = Self.options()
      reading.access = .reading
      let again =
        (try? PersistentStore(at: path, model: model, options: Self.options()))
        ?? (try? PersistentStore(at: path, model: model, options: reading))
      if let again { store = again }
    }
    return try body()
  }

  var identity: String {
    get throws { try PersistentStore.inspect(at: path).identity }
  }

  @discardableResult
  func move(restarting: Bool = false) throws -> Int {
    var move = Move(
      try store.snapshot(), of: try PersistentStore.inspect(at: path), options: PlanOptions(),
      to: address)
    move.restarts = restarting
    return try move.run()
  }

  func follow(to other: String? = nil) throws -> Follow {
    Follow(store, identity: try identity, to: other ?? address)
  }

  func verification() throws -> Verification {
    try Verification(
      of: try store.snapshot(), identity: try identity, in: address, rangeSize: 100)
  }

  func finish(wait: Duration = .zero) throws -> Verification? {
    var finish = Finish(path, to: address)
    finish.wait = wait
    return try finish.run()
  }

  func backOut(force: Bool = false) throws -> BackOut.Outcome {
    var backOut = BackOut(path, to: address)
    backOut.isForced = force
    return try backOut.run()
  }

  /// Fails unless the database has every record of the newest state, and no other.
  func expectSame(_ comment: @autoclosure () -> String = "") throws {
    let found = try verification()
    #expect(found.isSame, "\(comment()) \(found.differences)")
    #expect(found.pendingCount == 0, "\(comment())")
    #expect(found.sequence == found.movedSequence, "\(comment())")
  }
}

/// The program beside the bundle of the tests.
let program: String = {
  let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
  let directory = bundle.lastIndex(of: "/").map { String(bundle[...$0]) } ?? ""
  return directory + "cambium-postgres"
}()

/// Runs a command, and returns its status.
func status(of command: String) -> Int32 { unsafe system(command) >> 8 & 0xff }
