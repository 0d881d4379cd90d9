@testable import Cambium

/// A schema, a primary key and a row of the first of its records. A row that passes the check can be read.
///
///     input   ┌ length ┬ schema ┬ length ┬ key ┬ row ┄
///             │ 4      │        │ 2      │     │
///             └────────┴────────┴────────┴─────┴─────┄
enum RowTarget: FuzzTarget {
  static func seeds(of store: StoreFiles) -> [[UInt8]] {
    var mender = StoreMender(store)
    mender.mend()
    guard let schema = store.pieces([.schema]).last else { return [] }
    let leaves = mender.pieces.filter { $0.kind == .leaf }
    return leaves.flatMap { leaf in
      mender.entries(leaf.file, leaf.bytes).prefix(4).map { entry in
        var seed: [UInt8] = []
        seed.append(integer: UInt32(schema.count))
        seed += schema
        seed.append(integer: UInt16(entry.key.count))
        return seed + entry.key + mender.bytes(leaf.file, entry.value)
      }
    }.filter { (try? read($0)) == true }
  }

  static func run(_ input: [UInt8]) throws { _ = try read(input) }

  /// - Returns: True if some record of the schema has such a row.
  private static func read(_ input: [UInt8]) throws -> Bool {
    var reader = ByteReader(
      input.rawSpan, at: .entry(tree: "fuzz", key: []), invariant: .schemaLayout)
    var bytes = try reader.run(Int(try reader.integer(UInt32.self))).array()
    let key = try reader.run(Int(try reader.integer(UInt16.self))).array()
    let row = try reader.run(reader.remaining).array()
    bytes.mendFingerprint()
    let schema = try Schema(decoding: bytes.rawSpan, version: 1, path: "fuzz")
    let again = try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "fuzz")
    guard again == schema else {
      throw WrongUse(description: "\(schema) is written as \(again)")
    }
    var isRead = false
    for record in schema.records.prefix(4) {
      let layout = try RowLayout(record, version: 1)
      if (try? read(key, row, layout)) == true { isRead = true }
    }
    return isRead
  }

  private static func read(_ key: [UInt8], _ row: [UInt8], _ layout: RowLayout) throws -> Bool {
    do throws(StoreError) {
      try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout).check()
    } catch { return false }
    let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
    let encoder = KeyEncoder()
    for index in layout.columns.indices where !layout.columns[index].field.type.isExternal {
      do throws(StoreError) { _ = try reader.value(index) } catch {
        throw WrongUse(description: "a row is whole, and a column fails: \(error)")
      }
    }
    for index in try layout.indexLayouts() {
      try index.forEachEntry(of: reader, in: encoder) { _, _, _ in }
    }
    return true
  }
}
