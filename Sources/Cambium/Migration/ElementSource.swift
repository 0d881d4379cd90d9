#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One element of an old value that is a list, as the source of a field that is a single value.
struct ElementSource: Sendable {
  let choice: ElementChoice
  /// The name of the list in the old version; nil before that is known.
  private(set) var list: String?
  /// Why it cannot be taken; nil if it can.
  private(set) var fault: String?
  /// The records that the elements lead to, as people name them; nil if they are plain values.
  private var elements: String?
  /// The record that the field leads to, if that is another.
  private var destination: String?
  /// The list of that record that can have the elements, if a new record can be made for them.
  private var suitableList: String?
  /// The field by which the records of the elements are compared, and the number of the record that has it.
  private(set) var order: (record: UInt32, field: FieldSchema)?
  /// The new record that has all elements; nil if one is kept.
  private(set) var gathering: Gathering?

  /// A new record that has all elements.
  final class Gathering: Sendable {
    /// The record, its primary key, and the list that has the elements.
    let record: RecordSchema
    let key: FieldSchema
    let list: FieldSchema
    /// True if a record is made for a list without elements, too.
    let isOfEmpty: Bool

    init(record: RecordSchema, key: FieldSchema, list: FieldSchema, isOfEmpty: Bool) {
      self.record = record
      self.key = key
      self.list = list
      self.isOfEmpty = isOfEmpty
    }
  }

  /// Creates a source of which it is not known yet what it is an element of.
  init(_ choice: ElementChoice) {
    self.choice = choice
  }

  /// - Parameters:
  ///   - list: The field in the old version.
  ///   - target: The field in the new version.
  ///   - isPassed: True if a version between states the choice.
  init(
    _ choice: ElementChoice, of list: FieldSchema, as target: FieldSchema, from old: Schema,
    to new: Schema, isPassed: Bool = false
  ) {
    self.choice = choice
    self.list = list.name
    elements = list.reference?.destinationText
    let record = target.reference.flatMap { new.record(number: $0.record) }
    if let before = list.reference, let now = target.reference, now.record != before.record {
      destination = now.destinationText
      suitableList = record?.list(taking: list)?.name
    }
    switch choice {
    case .first, .last, .only: break
    case .least where isPassed, .greatest where isPassed:
      fault =
        "on the way it is \(choice) of a list, which a step over several versions does not compare; take the versions one"
        + " by one"
    case .least(let name), .greatest(let name): compare(by: name, of: list, in: old)
    case .all(let name): gather(in: name, list, target, record)
    }
  }

  private mutating func compare(by name: String, of list: FieldSchema, in schema: Schema) {
    guard let record = list.reference.flatMap({ schema.record(number: $0.record) }) else {
      fault = "\(choice) compares records, and the elements of \(self.list ?? "") are plain values"
      return
    }
    guard let field = record.field(named: name) else {
      fault =
        "\(choice) compares a field that \(record.name) does not have in the version before; it has "
        + record.fields.map(\.name).joined(separator: ", ")
      return
    }
    guard field.type.isOrdered else {
      fault = "\(choice) compares \(record.name).\(name), which is \(field.type) and has no order"
      return
    }
    order = (record.number, field)
  }

  private mutating func gather(
    in name: String, _ list: FieldSchema, _ target: FieldSchema, _ record: RecordSchema?
  ) {
    guard let record, let reference = target.reference, reference.kind == nil,
      list.composite == nil
    else {
      fault =
        "\(choice) makes a record that has the elements, so the field has to lead to records, and not to a kind of them"
      return
    }
    guard let key = record.soleUUID else {
      fault =
        "\(choice) makes a new \(record.name), whose key has to be one UUID; have a step make it with TransformRecords"
      return
    }
    guard let taking = record.field(named: name), taking.takes(list) else {
      fault =
        "\(choice) makes a new \(record.name), which has no list \(name.quoted) that takes the elements"
        + (record.list(taking: list).map { "; \($0.name) does" } ?? "")
      return
    }
    gathering = Gathering(record: record, key: key, list: taking, isOfEmpty: !target.isOptional)
  }
}

extension RecordSchema {
  /// Its primary key, if that is one UUID.
  fileprivate var soleUUID: FieldSchema? {
    let key = primaryKey.count == 1 ? field(primaryKey[0].field) : nil
    return key?.type == .scalar(.uuid) ? key : nil
  }

  /// Returns the first list that can have the elements of another, if a record can be made for them.
  fileprivate func list(taking list: FieldSchema) -> FieldSchema? {
    soleUUID == nil ? nil : fields.first { $0.takes(list) }
  }
}

extension FieldSchema {
  /// Returns true if it is a list of references that can have those of a list of the version before.
  fileprivate func takes(_ list: FieldSchema) -> Bool {
    guard type.scalar == nil, composite == nil, let before = list.reference,
      reference?.leads(as: before) ?? false
    else { return false }
    return list.type.fits(type)
  }
}

extension ColumnType {
  /// True if of any two values one comes before the other.
  fileprivate var isOrdered: Bool {
    switch scalar {
    case .boolean, .uuid, .url, .binaryData, nil: false
    default: true
    }
  }
}

// MARK: Values

extension ElementSource {
  /// True if the element is not known from the record alone.
  var readsVersion: Bool { order != nil }

  /// Returns the list, with only the kept element if that depends on the record's key or on other records.
  ///
  /// - Parameter version: The version that the record is of, if the source reads it.
  /// - Throws: `.corrupt`, `.io`.
  func narrowed(
    _ value: FieldValue, of record: borrowing RowReader, in version: OldVersion?
  ) throws(StoreError) -> FieldValue {
    let elements = if case .array(let elements) = value { elements } else { [FieldValue]() }
    if let gathering {
      if elements.isEmpty, !gathering.isOfEmpty { return .null }
      return .array([.uuid(UUID(of: try record.keyValue, in: gathering.record.name))])
    }
    guard let order, let version, elements.count > 1 else { return value }
    let kept = try version.place(
      of: record, list ?? "", by: order.field, of: order.record, isDescending: isDescending)
    return .array([elements[kept]])
  }

  private var isDescending: Bool { choice.order?.isDescending ?? false }

  /// The element that is kept; nil of a list without any.
  ///
  /// - Throws: `.invalidValue` if there are several, and nothing says which.
  func element(
    of elements: [FieldValue], for target: Column, in layout: RowLayout
  ) throws(StoreError) -> FieldValue? {
    switch choice {
    case .last: return elements.last
    case .only where elements.count > 1:
      throw layout.refusal(target, advice(elements.count, target.field.name, layout.record.name))
    default: return elements.first
    }
  }

  /// Says what to write where several elements have to become one.
  private func advice(_ count: Int, _ field: String, _ record: String) -> String {
    if let elsewhere = elsewhere(record) {
      return
        "it has \(count) elements that lead to \(elsewhere.elements), and there is a place for one that leads to"
        + " \(elsewhere.advice)"
    }
    let order = elements.map { ", or by a field of \($0), as .least(by: \"…\")" } ?? ""
    return
      "it has \(count) elements, and there is a place for one; say which by MigrationInfo(choosing: .first) or .last\(order);"
      + " or in a step, as UpdateField(\(field.quoted), choosing: .first)"
  }

  /// Why no element can be a field that leads to records whose keys are of another type; nil if the field leads to the records
  /// that the elements led to.
  func fault(of record: String) -> String? {
    elsewhere(record).map { "its elements lead to \($0.elements), and it leads to \($0.advice)" }
  }

  /// The records that the elements lead to, and what to write where the field leads to others, from their name on.
  private func elsewhere(_ record: String) -> (elements: String, advice: String)? {
    guard let elements, let destination else { return nil }
    let transform =
      "have a step make it, as TransformRecords(\(record.quoted), into: \(record.quoted), \(destination.quoted))"
      + " { old, emit in … }, which emits a \(destination) with the elements and a \(record) that leads to it"
    let gather = suitableList.map {
      "let a new \(destination) have them, by MigrationInfo(choosing: \(ElementChoice.all(in: $0))), or "
    }
    return (
      elements,
      "\(destination); none of them is such a record, so \(gather ?? "")\(transform)"
    )
  }
}

extension RowReader {
  /// The primary key as a value: of several fields, an array.
  fileprivate var keyValue: FieldValue {
    get throws(StoreError) {
      var values: [FieldValue] = []
      for part in layout.key.columns { values.append(try value(Int(part.column))) }
      return values.count == 1 ? values[0] : .array(values)
    }
  }
}

// MARK: In words

extension ElementSource {
  /// The second half of a sentence about the field.
  var text: String {
    let list = list ?? ""
    if let gathering {
      return
        "leads to a new \(gathering.record.name), which has the elements of \(list) in \(gathering.list.name)"
    }
    return switch choice {
    case .first: "is the first element of \(list)"
    case .last: "is the last element of \(list)"
    case .only, .all: "is the only element of \(list)"
    case .least(let field): "is the element of \(list) with the least \(field)"
    case .greatest(let field): "is the element of \(list) with the greatest \(field)"
    }
  }
}
