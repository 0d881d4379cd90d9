/// A kind of page that can be looked at once its bytes are known to be right.
///
/// `validate` runs after the checksum, when a page is read from the disk: of mapped pages when the
/// process first touches them, of others each time they come into the cache. It must leave nothing that
/// later reads rely on unchecked: a hostile file can carry a right checksum. It is not run again for a
/// second reference to the same page, whose aggregates may be others.
protocol PageContent {
  static var kind: PageKind { get }

  /// Throws unless `page`, found by `reference`, can be read without leaving its bounds.
  static func validate(_ page: RawSpan, _ reference: PageReference, level: UInt8) throws(StoreError)
}
