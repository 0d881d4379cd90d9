/// The record types of a program, and the version in which it describes them.
public struct StoreModel: Sendable {
  /// The version, counted from 1.
  public let version: Int
  /// A name for the version, such as that of the program's release.
  public let label: String?
  public let records: [any Record.Type]
  public let removed: [RemovedRecord]
  /// True if what has no type may be described in the model's own version too: then it is read and written without
  /// one.
  let isUntyped: Bool

  /// - Parameter removed: The records of earlier versions for which the program no longer has types.
  public init(
    version: Int = 1, label: String? = nil, records: [any Record.Type],
    removed: [RemovedRecord] = []
  ) {
    self.version = version
    self.label = label
    self.records = records
    self.removed = removed
    isUntyped = false
  }

  /// A model of records that no Swift type stands for.
  package init(version: Int, label: String? = nil, untyped records: [RemovedRecord]) {
    self.version = version
    self.label = label
    self.records = []
    removed = records
    isUntyped = true
  }

  /// Returns the descriptions in a version without the types, and without validations of whole records, which need them.
  package func untyped(version: Int) -> StoreModel {
    let typed = records.map { type in
      RemovedRecord(String(describing: type)) { version in
        RecordDescription(
          type.recordDescription(for: version).elements.filter {
            if case .validation = $0.kind { false } else { true }
          })
      }
    }
    return StoreModel(
      version: version, label: version == self.version ? label : nil, untyped: typed + removed)
  }
}

/// A record of earlier versions for which there is no type any more.
public struct RemovedRecord: Sendable {
  let name: String
  let description: @Sendable (Int) -> RecordDescription

  /// - Parameters:
  ///   - name: Its stored name.
  ///   - description: Its description in a version; nothing for the current one.
  public init(
    _ name: String,
    @RecordDescription.ResultBuilder description: @escaping @Sendable (Int) -> RecordDescription
  ) {
    self.name = name
    self.description = description
  }
}
