/// The kinds of a record, by where its rows say that they are of one.
final class RowKinds: Sendable {
  /// One kind: the rows in which its composite is not null.
  struct Kind: Sendable {
    let name: String
    /// The place of its composite among the layout's columns.
    let column: Int
    /// The bit that is set in rows that are not of the kind.
    let nullBit: Int
    let isAbstract: Bool
    /// The place of its parent among the kinds; nil if that is the record itself.
    let parent: Int?
    /// The kinds whose parent it is.
    fileprivate(set) var children: [Int] = []
    /// The columns that only rows of the kind have, its composite included.
    fileprivate(set) var columns: Set<Int> = []
  }

  /// Parents before their children.
  let all: [Kind]
  /// The kinds whose parent is the record itself.
  let outermost: [Int]
  private let isAbstract: Bool
  private let record: String
  private let placeByName: [String: Int]

  /// - Returns: nil for a record without kinds that is not abstract.
  init?(_ record: RecordSchema, _ columns: [Column]) {
    guard record.hasKinds else { return nil }
    let places = record.kinds.compactMap { kind in
      columns.firstIndex { $0.field.number == kind.composite }.map { (kind, $0) }
    }.sortedRarely { columns[$0.1].field.name.utf8.count < columns[$1.1].field.name.utf8.count }
    var all: [Kind] = []
    var outermost: [Int] = []
    var placeByNumber: [UInt32: Int] = [:]
    var placeByName: [String: Int] = [:]
    for (kind, column) in places {
      let field = columns[column].field
      let parent = field.composite.flatMap { placeByNumber[$0] }
      placeByNumber[field.number] = all.count
      placeByName[field.name] = all.count
      if let parent { all[parent].children.append(all.count) } else { outermost.append(all.count) }
      all.append(
        Kind(
          name: field.name, column: column, nullBit: columns[column].place.nullBit ?? 0,
          isAbstract: kind.isAbstract, parent: parent))
    }
    for (index, column) in columns.enumerated() {
      for place in [column.field.number] + record.composites(column.field) {
        if let kind = placeByNumber[place] { all[kind].columns.insert(index) }
      }
    }
    self.all = all
    self.outermost = outermost
    self.placeByName = placeByName
    isAbstract = record.isAbstract
    self.record = record.name
  }

  func place(named name: String) -> Int? { placeByName[name] }

  func children(of kind: Int?) -> [Int] { kind.map { all[$0].children } ?? outermost }

  /// Returns the innermost kind that a row is of; nil if it is of none.
  ///
  /// - Parameter row: One whose frame was checked.
  func kind(of row: RawSpan) -> Int? {
    var kind: Int?
    while let inner = children(of: kind).first(where: { !row.isNull(bit: all[$0].nullBit) }) {
      kind = inner
    }
    return kind
  }

  /// Returns true if a row is of a kind, or of one of its kinds. A row without its frame is left to its reader.
  func has(_ row: RawSpan, kind: Int, in layout: RowLayout) -> Bool {
    row.byteCount < layout.fixedEnd || !row.isNull(bit: all[kind].nullBit)
  }

  /// Returns the kinds that a row is of, the innermost first.
  func kinds(of row: RawSpan) -> [Int] {
    var kinds: [Int] = []
    var next = kind(of: row)
    while let kind = next {
      kinds.append(kind)
      next = all[kind].parent
    }
    return kinds
  }

  /// Returns the kind directly below another that a row is of; nil if it is of none.
  func kind(of row: RawSpan, below kind: Int?) -> Int? {
    if let kind, row.isNull(bit: all[kind].nullBit) { return nil }
    return children(of: kind).first { !row.isNull(bit: all[$0].nullBit) }
  }

  /// Why a row cannot be of the kinds that it is of; nil if it can (R6).
  func fault(of row: RawSpan) -> String? {
    var kind: Int?
    while true {
      let present = children(of: kind).filter { !row.isNull(bit: all[$0].nullBit) }
      if present.count > 1 {
        return
          "it is of the kinds \(all[present[0]].name) and \(all[present[1]].name), and a record is of one"
      }
      guard let inner = present.first else { break }
      kind = inner
    }
    guard kind.map({ all[$0].isAbstract }) ?? isAbstract else { return nil }
    let names = children(of: kind).map { all[$0].name }.joined(separator: ", ")
    return "\(kind.map { all[$0].name } ?? record) is abstract, so a record is of one of its kinds"
      + (names.isEmpty ? "" : ": \(names)")
  }
}

/// The kinds that values of a type are of, and those that they are not of.
struct KindPresence {
  /// The bits to be set for kinds that the values are not of, and for all that is in those.
  private(set) var absentBits: [Int] = []
  /// The places among the layout's columns of composites that are not null.
  private(set) var present: [Int] = []
  /// The places of fields that stand for a kind without others.
  private(set) var markers: [Int] = []

  init(of type: CheckedRecord, in layout: RowLayout) {
    guard let kinds = layout.kinds else { return }
    present = type.levels.compactMap { $0.composite.flatMap { layout.index(named: $0) } }
    for kind in kinds.all where !present.contains(kind.column) {
      absentBits += layout.columns[kind.column].nullBits
    }
    markers = type.fields.filter { $0.role == .marker }.compactMap {
      layout.index(named: $0.name)
    }
  }
}

extension RowReader {
  /// Copies the row, with the columns of a kind from another.
  ///
  /// - Throws: `.limitExceeded`.
  borrowing func copy(
    to writer: RowWriter, keeping kind: RowKinds.Kind, of other: borrowing RowReader
  ) throws(StoreError) {
    let layout = layout
    writer.begin(layout)
    for (index, column) in layout.columns.enumerated() {
      if kind.columns.contains(index) {
        try other.copyColumn(column, to: writer)
      } else {
        try copyColumn(column, to: writer)
      }
    }
    writer.finish()
  }
}
