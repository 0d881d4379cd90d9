/// An order as a query of one condition needs it: columns whose values can differ, and no more of them than
/// it takes to tell all records apart. The primary key comes behind, ascending.
struct BoundOrder: Sendable {
  /// With the forms in which keys to sort by have them.
  private(set) var columns: [KeyColumn] = []
  /// True if a primary key comes behind; otherwise the columns have all of it.
  private(set) var hasWholeKey = false
  /// Columns that have one value in all records of the query. They are left out, unless records are to come
  /// after one that may have another.
  private(set) var fixed: [(column: KeyColumn, value: FieldValue)] = []

  static let byPrimaryKey = BoundOrder()

  private init() {}

  /// - Parameter isAfter: True if records are to come after one that may not meet the condition.
  /// - Throws: `.invalidQuery` where there is no such field, or its values have no order.
  init(
    _ order: [FieldOrder], _ condition: Conjunction, isAfter: Bool, in layout: RowLayout
  ) throws(StoreError) {
    var exact: Set<Int> = []
    let key = layout.key.columns
    for field in order {
      let column = try Self.column(of: field, in: layout)
      let index = Int(column.column)
      if exact.contains(index) { continue }
      if let values = condition.fixedValues(of: index) {
        if !isAfter { continue }
        fixed.append((column, values[0]))
      }
      if !column.form.contains(.isCaseInsensitive) { exact.insert(index) }
      columns.append(column)
      hasWholeKey = key.allSatisfy { exact.contains(Int($0.column)) }
      if hasWholeKey { break }
    }
    dropPrimaryKey(key)
  }

  /// Drops the primary key from the end of the order, which ends with it anyway.
  private mutating func dropPrimaryKey(_ key: [KeyColumn]) {
    guard columns.count >= key.count else { return }
    let isThere = zip(columns.suffix(key.count), key).allSatisfy { one, other in
      one.isSameValue(as: other) && one.isDescending == other.isDescending
    }
    guard isThere else { return }
    columns.removeLast(key.count)
    hasWholeKey = false
  }

  /// - Throws: as `init`.
  static func column(
    of field: FieldOrder, in layout: RowLayout
  ) throws(StoreError) -> KeyColumn {
    let index = try layout.place(ofQueried: field.field)
    let column = layout.columns[index]
    guard column.field.type.canBeKey, let type = column.field.type.scalar else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no order")
    }
    guard !field.isCaseInsensitive || type == .string else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no case")
    }
    var form: KeyForm = []
    if column.place.nullBit != nil { form.insert(.isOptional) }
    if field.isDescending { form.insert(.isDescending) }
    if field.isCaseInsensitive { form.insert(.isCaseInsensitive) }
    return KeyColumn(column: UInt32(index), place: column.place, type: type, form: form)
  }
}

extension KeyColumn {
  var isDescending: Bool { form.contains(.isDescending) }
  var isCaseInsensitive: Bool { form.contains(.isCaseInsensitive) }
}

// MARK: What a tree gives

/// The part of a query's order that the order of a tree's keys gives.
struct GivenOrder: Sendable {
  enum Extent: Hashable, Sendable {
    /// Entries come as they are wanted.
    case all
    /// Entries that have the same first parts come together: those are to be sorted.
    case groups
    case nothing
  }

  var extent = Extent.nothing
  var isBackward = false
  /// The number of parts of the key that make a group.
  var partCount = 0
  /// True if records of a group differ in nothing that is wanted but the primary key.
  var isByKeyInGroups = false
}

extension BoundOrder {
  /// - Parameters:
  ///   - parts: Of the tree's keys; behind those of an index the primary key comes.
  ///   - fixed: The values of parts that can have only one.
  ///   - isIndex: True if they are those of an index.
  func given(by parts: [KeyColumn], fixed: [FieldValue?], isIndex: Bool) -> GivenOrder {
    var given = GivenOrder()
    var matched = 0
    var isBackward: Bool?
    for (place, part) in parts.enumerated() {
      passFixed(&matched)
      if place < fixed.count, case .some = fixed[place] {
        if matched < columns.count, columns[matched].isSameValue(as: part) { matched += 1 }
        given.partCount = place + 1
        continue
      }
      guard matched < columns.count, columns[matched].isSameValue(as: part) else { break }
      let isOther = columns[matched].isDescending != part.isDescending
      guard isBackward == nil || isBackward == isOther else { break }
      isBackward = isOther
      matched += 1
      given.partCount = place + 1
    }
    passFixed(&matched)
    given.isBackward = isBackward ?? false
    given.isByKeyInGroups = matched == columns.count
    let isWhole = given.partCount == parts.count
    let isAll = isIndex ? isWhole && !given.isBackward : isWhole || !given.isBackward
    if matched == columns.count, isAll {
      given.extent = .all
    } else if matched > 0 {
      given.extent = .groups
    }
    return given
  }

  private func isFixed(_ column: KeyColumn) -> Bool {
    fixed.contains { $0.column.column == column.column }
  }

  private func passFixed(_ matched: inout Int) {
    while matched < columns.count, isFixed(columns[matched]) { matched += 1 }
  }
}

extension KeyColumn {
  fileprivate func isSameValue(as other: KeyColumn) -> Bool {
    column == other.column && isCaseInsensitive == other.isCaseInsensitive
  }
}
