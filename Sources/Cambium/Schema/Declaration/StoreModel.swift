/// The record types of a program, and the version in which it describes them.
public struct StoreModel: Sendable {
  /// From 1.
  public let version: Int
  /// A name for the version, such as that of the program's release.
  public let label: String?
  public let records: [any Record.Type]
  public let removed: [RemovedRecord]

  /// - Parameter removed: The types that earlier versions had, and the program no longer has.
  public init(
    version: Int = 1, label: String? = nil, records: [any Record.Type],
    removed: [RemovedRecord] = []
  ) {
    self.version = version
    self.label = label
    self.records = records
    self.removed = removed
  }
}

/// A record that earlier versions had, and for which there is no type any more.
public struct RemovedRecord: Sendable {
  let name: String
  let description: @Sendable (Int) -> RecordDescription

  /// - Parameters:
  ///   - name: What it was stored as.
  ///   - description: What was stored of it in a version; nothing for the current one.
  public init(
    _ name: String,
    @RecordDescription.ResultBuilder description: @escaping @Sendable (Int) -> RecordDescription
  ) {
    self.name = name
    self.description = description
  }
}
