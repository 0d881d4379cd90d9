public import Cambium

/// An object that can be made of something else: of decoded JSON, say.
public protocol ImportableObject: CoreStoreObject {
  associatedtype ImportSource

  /// Returns false to leave a source out; true by default.
  static func shouldInsert(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws -> Bool

  /// Sets the properties of a new object. An error ends the import, of which nothing is committed.
  mutating func didInsert(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws
}

extension ImportableObject {
  public static func shouldInsert(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws -> Bool { true }
}

/// An object that is found by an identifier of its source.
public protocol ImportableUniqueObject: ImportableObject {
  associatedtype UniqueIDType: FieldValueConvertible & Hashable

  /// The unique property that has the identifiers; nil for the primary key, which is the default.
  static var uniqueIDKeyPath: PartialKeyPath<Self>? { get }

  /// The identifier of the object. It is set before `didInsert(from:in:)`.
  var uniqueIDValue: UniqueIDType { get set }

  /// Returns the identifier of a source; nil to leave it out.
  static func uniqueID(from source: ImportSource) throws -> UniqueIDType?

  /// Returns false to leave the object of a source as it is; true by default.
  static func shouldUpdate(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws -> Bool

  /// Sets the properties of an object, new or not. An error ends the import, of which nothing is committed.
  mutating func update(from source: ImportSource, in transaction: inout WriteTransaction) throws
}

extension ImportableUniqueObject {
  public static var uniqueIDKeyPath: PartialKeyPath<Self>? { nil }

  public static func shouldUpdate(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws -> Bool { true }

  /// Updates the new object.
  public mutating func didInsert(
    from source: ImportSource, in transaction: inout WriteTransaction
  ) throws { try update(from: source, in: &transaction) }
}

extension WriteTransaction {
  /// Makes an object of each source, and saves it.
  ///
  /// - Returns: The objects, without those that were left out.
  /// - Throws: Errors of the type's functions and `save(_:onConflict:)`; then nothing is imported.
  @discardableResult
  public mutating func importObjects<Object: ImportableObject, Sources: Sequence>(
    _ into: Into<Object>, sourceArray: Sources
  ) throws -> [Object] where Sources.Element == Object.ImportSource {
    try savepoint { transaction in
      var objects: [Object] = []
      for source in sourceArray where try Object.shouldInsert(from: source, in: &transaction) {
        var object = Object()
        try object.didInsert(from: source, in: &transaction)
        try transaction.save(object)
        objects.append(object)
      }
      return objects
    }
  }

  /// Makes an object of a source, and saves it. Returns nil if it was left out.
  @discardableResult
  public mutating func importObject<Object: ImportableObject>(
    _ into: Into<Object>, source: Object.ImportSource
  ) throws -> Object? {
    try importObjects(into, sourceArray: [source]).first
  }

  /// Finds the object of each source by its identifier, or makes it, and updates it. Of sources with one identifier the last one
  /// counts. An object that stays as it was is not written.
  ///
  /// - Parameter preProcess: Called with the sources by identifier, before the first object is made: removes and adds some.
  /// - Returns: The numbers of objects that were inserted, updated and left as they are.
  /// - Throws: Errors of the type's functions and `preProcess`, and as
  ///   `importRecords(_:from:id:uniqueID:preProcess:_:)`; then nothing is imported.
  @discardableResult
  public mutating func importUniqueObjects<Object: ImportableUniqueObject, Sources: Sequence>(
    _ into: Into<Object>, sourceArray: Sources,
    preProcess: ((inout [Object.UniqueIDType: Object.ImportSource]) throws -> Void)? = nil
  ) throws -> ImportReport where Sources.Element == Object.ImportSource {
    try importRecords(
      Object.self, from: sourceArray, id: Object.uniqueID(from:),
      uniqueID: Object.uniqueIDKeyPath, preProcess: preProcess
    ) { (transaction, source, existing) -> Object? in
      if var object = existing {
        guard try Object.shouldUpdate(from: source, in: &transaction) else { return nil }
        try object.update(from: source, in: &transaction)
        return object
      }
      guard try Object.shouldInsert(from: source, in: &transaction),
        let id = try Object.uniqueID(from: source)
      else { return nil }
      var object = Object()
      object.uniqueIDValue = id
      try object.didInsert(from: source, in: &transaction)
      return object
    }
  }
}
