public import Cambium

/// A store in a directory. It has the name that code which comes from CoreStore uses: nothing in it is SQLite.
public struct SQLiteStore: Sendable {
  /// The path of the store's directory.
  public let fileName: String
  /// The configuration whose entities it has; nil for all.
  public let configuration: String?
  public let migrationMappingProviders: [any SchemaMappingProvider]
  public let localStorageOptions: LocalStorageOptions
  /// The options of the core.
  public var options = StoreOptions()

  /// - Parameters:
  ///   - fileName: The path of the store's directory; a relative one is in the current directory.
  ///   - configuration: The configuration whose entities it has; nil for all.
  ///   - migrationMappingProviders: The migrations that are not inferred.
  public init(
    fileName: String = "CoreStore.cambium", configuration: String? = nil,
    migrationMappingProviders: [any SchemaMappingProvider] = [],
    localStorageOptions: LocalStorageOptions = .none
  ) {
    self.fileName = fileName
    self.configuration = configuration
    self.migrationMappingProviders = migrationMappingProviders
    self.localStorageOptions = localStorageOptions
  }

  /// Returns the number of bytes in the store's files.
  ///
  /// - Throws: `StoreError` as `PersistentStore.inspect(at:options:)`.
  public func fileSize() throws(StoreError) -> Int {
    try PersistentStore.inspect(at: fileName).size
  }

  var storeOptions: StoreOptions {
    var options = options
    if localStorageOptions.contains(.preventProgressiveMigration) {
      options.migration.allowsSeveralSteps = false
    }
    return options
  }
}

/// A store in memory, which is gone with its stack.
public struct InMemoryStore: Sendable {
  /// The configuration whose entities it has; nil for all.
  public let configuration: String?

  public init(configuration: String? = nil) {
    self.configuration = configuration
  }
}

/// The treatment of a store of another version when its storage is added.
public struct LocalStorageOptions: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  public static let none: LocalStorageOptions = []
  /// Moves a store that cannot be opened as it is to another path, its own with `.aside-1` or a higher number, and begins a new
  /// one. Nothing is deleted.
  public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1)
  /// Refuses stores that are more than one step behind.
  public static let preventProgressiveMigration = LocalStorageOptions(rawValue: 2)
  /// Lets `addStorageAndWait` migrate if everything is inferred.
  public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 4)
}

// MARK: - As text

extension SQLiteStore: CustomStringConvertible {
  /// `SQLiteStore "laundry.cambium"`, with the configuration if it has one.
  public var description: String {
    "SQLiteStore \"\(fileName)\"" + (configuration.map { " of configuration \"\($0)\"" } ?? "")
  }
}

extension InMemoryStore: CustomStringConvertible {
  /// `InMemoryStore`, with the configuration if it has one.
  public var description: String {
    "InMemoryStore" + (configuration.map { " of configuration \"\($0)\"" } ?? "")
  }
}

extension LocalStorageOptions: CustomStringConvertible {
  /// The options as they are written: `.none`, or `[.recreateStoreOnModelMismatch, .preventProgressiveMigration]`.
  public var description: String {
    let names: [(LocalStorageOptions, String)] = [
      (.recreateStoreOnModelMismatch, ".recreateStoreOnModelMismatch"),
      (.preventProgressiveMigration, ".preventProgressiveMigration"),
      (.allowSynchronousLightweightMigration, ".allowSynchronousLightweightMigration"),
    ]
    let stated = names.filter { contains($0.0) }.map(\.1)
    return stated.isEmpty ? ".none" : "[\(stated.joined(separator: ", "))]"
  }
}
