internal import Cambium

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Stores of several versions in one directory, to be committed beside the tests: stores that programs of each version
/// really wrote. They are never opened for writing; tests use copies.
///
/// ```swift
/// let fixtures = StoreFixtures(at: "Tests/Fixtures")
/// try fixtures.makeIfMissing(version: 2) { path in
///   let store = try PersistentStore(at: path, model: model.dynamic(version: 2))
///   …
///   try store.close()
/// }
/// ```
public struct StoreFixtures: Sendable {
  public let directory: String

  public init(at directory: String) {
    self.directory = directory
  }

  public func path(version: Int) -> String { "\(directory)/version-\(version)" }

  /// The versions of which there are stores, ascending.
  public var versions: [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.compactMap { name in
      name.hasPrefix("version-") ? Int(name.dropFirst("version-".count)) : nil
    }.sorted()
  }

  /// Makes the store of a version where there is none: by `make`, which is given a path to make it at.
  ///
  /// - Returns: True if it was made.
  /// - Throws: errors of `make`: then there is none.
  @discardableResult
  public func makeIfMissing(version: Int, _ make: (String) throws -> Void) throws -> Bool {
    let path = path(version: version)
    if FileManager.default.fileExists(atPath: path) { return false }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let work = try WorkDirectory(beside: path)
    try make(work.content)
    try work.finish()
    return true
  }

  /// Copies the store of a version to `path`, where there must be nothing.
  ///
  /// - Throws: `StoreError.missing` where there is none; errors of the file system.
  public func copy(version: Int, to path: String) throws {
    let source = self.path(version: version)
    guard FileManager.default.fileExists(atPath: source) else {
      throw StoreError.missing(path: source)
    }
    try FileManager.default.copyItem(atPath: source, toPath: path)
  }
}
