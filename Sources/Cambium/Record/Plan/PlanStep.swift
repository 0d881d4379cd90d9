/// One thing that a plan does with one property.
struct PlanStep: BitwiseCopyable {
  let action: Action
  let isOptional: Bool
  /// The offset of the property in the record's struct.
  let offset: UInt32
  /// The place of the field in the row.
  let place: ColumnPlace
  /// Of an action that goes by way of something: which access, composite or filler.
  let detail: UInt32
  /// The optional composites that it is in, a bit for each.
  let composites: UInt32

  enum Action: Hashable, BitwiseCopyable {
    /// As it is.
    case scalar(ScalarType)
    /// By way of its type.
    case access
    /// Not stored.
    case transient
    /// An optional composite: what is in it comes next, where it is not nil.
    case composite
    /// Nothing of that composite follows.
    case compositeEnd
  }
}

/// An optional composite, as steps of a plan refer to it.
struct CompositeSteps: Sendable {
  let access: any CompositeAccess
  /// Its place in the layout's columns.
  let column: Int
  /// The steps of reading between which it is filled.
  let first: Int
  var last: Int

  /// A bit for each composite says that it is nil.
  static var most: Int { UInt32.bitWidth }
}

/// One part of the primary key and the property that it is made of.
struct KeyStep: BitwiseCopyable {
  let action: PlanStep.Action
  let offset: UInt32
  /// The number of the access.
  let detail: UInt32
  let column: KeyColumn
}
