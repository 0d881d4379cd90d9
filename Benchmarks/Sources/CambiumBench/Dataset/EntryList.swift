/// Keys, each with its value.
struct EntryList: Sendable {
  let keys: ByteList
  let values: ByteList

  var count: Int { keys.count }

  /// The bytes to be stored, without any overhead.
  var byteCount: Int { keys.byteCount + values.byteCount }

  func arranged(by order: [UInt32]) -> EntryList {
    EntryList(keys: keys.arranged(by: order), values: values.arranged(by: order))
  }
}
