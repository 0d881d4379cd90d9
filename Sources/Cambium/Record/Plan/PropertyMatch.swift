/// A stored property of a record's struct, or of a composite in it, and what a plan does with it.
struct PropertyMatch {
  /// In bytes, from the start of the record's struct; of what is in an optional composite too, since what
  /// an optional wraps is where the optional is.
  let offset: Int
  let isOptional: Bool
  let use: Use

  enum Use {
    /// Stored as it is, in the column at this place of the layout.
    case scalar(ScalarType, column: Int)
    /// Stored by way of its type.
    case access(any PropertyAccess, column: Int)
    /// A struct whose properties are stored; `access` where it is optional.
    case composite([PropertyMatch], (any CompositeAccess)?, column: Int)
    /// Not stored.
    case transient(any PropertyFiller)
  }
}
