import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Files that are deleted or replaced while their store is open can be written and flushed, and nothing of it is found again.
@Suite struct LostFilesTests {
  enum Loss: CaseIterable {
    case directory, log, oneLog, pages, replacedLog, overwrittenLog, replacedPages, movedLog

    /// What somebody does to a store who does not know better.
    func happen(to path: String) throws {
      let files = FileManager.default
      func names(_ prefix: String) throws -> [String] {
        try files.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }
          .map { path + "/" + $0 }
      }
      switch self {
      case .directory: try files.removeItem(atPath: path)
      case .log: try names("log-").forEach(files.removeItem(atPath:))
      case .oneLog: try files.removeItem(atPath: path + "/log-1")
      case .pages: try names("pages-").forEach(files.removeItem(atPath:))
      case .replacedLog, .replacedPages:
        for name in try names(self == .replacedLog ? "log-" : "pages-") {
          try files.moveItem(atPath: name, toPath: path + "-old")
          try files.copyItem(atPath: path + "-old", toPath: name)
          try files.removeItem(atPath: path + "-old")
        }
      case .overwrittenLog:
        for name in try names("log-") {
          try files.copyItem(atPath: name, toPath: path + "-new")
          _ = unsafe rename(path + "-new", name)
        }
      case .movedLog: try files.moveItem(atPath: path + "/log-0", toPath: path + "-log")
      }
    }
  }

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private func open() throws -> PersistentStore {
    let store = try PersistentStore(at: path, model: .samples)
    try store.write { try $0.save(contentsOf: Account.some(100)) }
    try store.backend.fold()
    return store
  }

  private static func isLoss(_ error: StoreError?, in path: String) -> Bool {
    if case .filesGone(let file) = error { file.hasPrefix(path + "/") } else { false }
  }

  @Test(arguments: Loss.allCases)
  func `a flush says that files are gone, and a copy saves what is open`(loss: Loss) throws {
    let store = try open()
    try store.flush()
    try loss.happen(to: path)
    try store.save(Note(key: "late"), durability: .durable)
    let error = storeError { try store.flush() }
    #expect(Self.isLoss(error, in: path), "\(String(describing: error))")
    #expect("\(try #require(error))".contains("backUp(to:)"))
    // Nothing more is acknowledged.
    guard case .poisoned = storeError({ try store.save(Note(key: "later")) }) else {
      return #expect(Bool(false), "it was saved")
    }
    #expect(Self.isLoss(storeError { try store.flush() }, in: path))
    try store.backUp(to: directory.path + "/copy")
    #expect(Self.isLoss(storeError { try store.close() }, in: path))
    let copy = try PersistentStore(at: directory.path + "/copy", model: .samples)
    #expect(try copy.count(Account.self) == 100)
    #expect(try copy.fetch(Note.self, key: "late") != nil)
    try copy.expectSound()
    try copy.close()
  }

  @Test(arguments: Loss.allCases)
  func `closing says that files are gone`(loss: Loss) throws {
    let store = try open()
    try loss.happen(to: path)
    let error = storeError { try store.close() }
    #expect(Self.isLoss(error, in: path), "\(String(describing: error))")
    try store.close()
  }

  @Test(arguments: Loss.allCases)
  func `the next fold says that files are gone, and nothing more is acknowledged`(loss: Loss) throws
  {
    let store = try open()
    try loss.happen(to: path)
    try store.save(Note(key: "late"))
    #expect(storeError { try store.backend.fold() } != nil)
    guard case .poisoned(_, let reason) = storeError({ try store.save(Note(key: "later")) }) else {
      return #expect(Bool(false), "it was saved")
    }
    #expect(reason.contains("was deleted or replaced"), "\(reason)")
    #expect(Self.isLoss(storeError { try store.close() }, in: path))
  }

  @Test func `a directory that is moved takes its store along`() throws {
    let store = try open()
    let moved = directory.path + "/moved"
    try #require(unsafe rename(path, moved) == 0)
    let other = try PersistentStore(at: path, model: .samples)
    try store.save(Note(key: "late"))
    try store.flush()
    try store.backend.fold()
    try store.close()
    try other.close()
    let again = try PersistentStore(at: moved, model: .samples)
    #expect(try again.fetch(Note.self, key: "late") != nil)
    try again.close()
  }

  @Test func `segments that compaction empties are not missed`() throws {
    let store = try open()
    for round in 0..<4 {
      try store.write { transaction in
        try transaction.save(contentsOf: Account.some(100 + round))
      }
      try store.backend.fold()
      try store.compact()
      try store.flush()
    }
    try store.close()
  }
}
