public import Cambium

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A store of a container: where it is, and which models it has.
public struct ModelConfiguration: Sendable {
  /// The name, which is unique in a container.
  public let name: String
  /// The directory of the store; by default `<name>.store` in the current directory. Not used in memory.
  public let url: URL
  /// Keeps the store in memory, where it is gone with the container.
  public let isStoredInMemoryOnly: Bool
  /// Opens the store for writing.
  public let allowsSave: Bool
  /// The types in the store; nil for all of the container.
  public let schema: [any PersistentModel.Type]?
  /// The options of the core. Their `access` is that of `allowsSave`.
  public var options = StoreOptions()

  /// Creates a configuration of a store under a name.
  ///
  /// - Parameters:
  ///   - name: The name; `default` if it is nil.
  ///   - schema: The types in the store, of the newest version; nil for all of the container. A model that had another stored
  ///     name in an older version, or does not exist any more, is named by its type of that version, too.
  public init(
    _ name: String? = nil, schema: [any PersistentModel.Type]? = nil,
    isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true
  ) {
    let name = name ?? "default"
    self.init(
      name, schema, URL(filePath: "\(name).store"), isStoredInMemoryOnly, allowsSave)
  }

  /// Creates a configuration of the store in a directory.
  public init(
    _ name: String? = nil, schema: [any PersistentModel.Type]? = nil, url: URL,
    allowsSave: Bool = true
  ) {
    self.init(name ?? url.lastPathComponent, schema, url, false, allowsSave)
  }

  private init(
    _ name: String, _ schema: [any PersistentModel.Type]?, _ url: URL, _ isInMemory: Bool,
    _ allowsSave: Bool
  ) {
    self.name = name
    self.schema = schema
    self.url = url
    isStoredInMemoryOnly = isInMemory
    self.allowsSave = allowsSave
  }

  /// The path of the store.
  var path: String { url.path(percentEncoded: false) }

  /// The options with which the store is opened.
  var storeOptions: StoreOptions {
    var options = options
    if !allowsSave { options.access = .reading }
    return options
  }

  /// Returns true if the store has the records of a type that stands for a version.
  func contains(_ type: any PersistentModel.Type, in version: Int, newest: Int) -> Bool {
    guard let schema else { return true }
    let name = type.recordName(in: version)
    return schema.contains { $0.recordName(in: newest) == name }
  }
}

extension ModelConfiguration: CustomStringConvertible {
  /// The name and the place: `ModelConfiguration "trips" at /var/lib/trips`.
  public var description: String {
    "ModelConfiguration \"\(name)\" " + (isStoredInMemoryOnly ? "in memory" : "at \(path)")
      + (allowsSave ? "" : ", read only")
  }
}
