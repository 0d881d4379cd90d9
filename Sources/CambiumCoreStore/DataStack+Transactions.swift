public import Cambium
internal import Dispatch

extension DataStack {
  /// Calls `body` with a transaction, and commits its changes when `body` returns. If it throws, nothing is committed.
  ///
  /// - Parameters:
  ///   - configuration: The store; nil for the first that was added. No transaction spans two stores.
  ///   - body: Changes objects. Objects are structs: one that is changed is saved again.
  /// - Throws: `CoreStoreError.persistentStoreNotFound`; errors of `body`; as
  ///   `PersistentStore.write(durability:author:_:)`.
  public func perform<Value>(
    synchronous body: (inout WriteTransaction) throws -> Value, in configuration: String? = nil
  ) throws -> Value {
    try store(of: configuration).write(body)
  }

  /// Calls `body` with a transaction on a thread of its own, commits, and calls `completion` there with the result.
  public func perform<Value: Sendable>(
    asynchronous body: @escaping @Sendable (inout WriteTransaction) throws -> Value,
    in configuration: String? = nil,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    DispatchQueue.global().async {
      completion(Result { try self.perform(synchronous: body, in: configuration) })
    }
  }
}

extension DataStack.AsyncNamespace {
  /// Calls `body` with a transaction, and commits its changes; in a task, which waits without a thread.
  ///
  /// - Throws: As `perform(synchronous:in:)` of the stack.
  public func perform<Value>(
    _ body: (inout WriteTransaction) throws -> Value, in configuration: String? = nil
  ) async throws -> Value {
    try await stack.store(of: configuration).write(body)
  }
}

// MARK: - Objects

/// A record whose objects can be made without values: each property has one to begin with.
public protocol CoreStoreObject: Record {
  init()
}

/// The entity that an object is made of.
public struct Into<Object: CoreStoreObject>: Sendable {
  public init() {}
}

extension WriteTransaction {
  /// Makes an object, lets `body` set its properties, and saves it.
  ///
  /// ```swift
  /// let item = try transaction.create(Into<V1.LaundryItem>()) { item in item.name = "Shirt" }
  /// ```
  ///
  /// - Returns: The object as it is saved. If it is changed later, save it again.
  /// - Throws: Errors of `body` and `save(_:onConflict:)`.
  @discardableResult
  public mutating func create<Object: CoreStoreObject>(
    _ into: Into<Object>, _ body: (inout Object) throws -> Void = { _ in }
  ) throws -> Object {
    var object = Object()
    try body(&object)
    try save(object)
    return object
  }

  /// Sets a property of the object that a reference leads to, and saves the object.
  ///
  /// ```swift
  /// try transaction.set(\.success, of: data.data, to: laundries)    // data.data?.success = laundries
  /// ```
  ///
  /// From the other end of a relation, `set(_:of:to:)` with its `Inverse` does the same.
  ///
  /// - Parameter reference: The object; nil to do nothing, as `?.` does.
  /// - Returns: False if there was no reference.
  /// - Complexity: That of a lookup and of `save`.
  /// - Throws: `StoreError.noSuchRecord` if the reference leads nowhere; as `update(_:onConflict:)`: then nothing has changed.
  @discardableResult
  public mutating func set<Object: Record & Identifiable, Value>(
    _ property: WritableKeyPath<Object, Value>, of reference: Reference<Object>?, to value: Value
  ) throws -> Bool {
    guard let reference else { return false }
    var object = try find(reference)
    object[keyPath: property] = value
    try update(object)
    return true
  }

  /// Ends the transaction: nothing of it is committed.
  ///
  /// - Throws: `CoreStoreError.userCancelled`, always.
  public func cancel() throws(CoreStoreError) { throw .userCancelled }
}

extension Array {
  /// Appends the reference to an object: `laundries.append(laundry)`.
  public mutating func append<Object>(_ object: Object) where Element == Reference<Object> {
    append(object.reference)
  }
}
