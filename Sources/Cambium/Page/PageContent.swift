/// A kind of page that can be looked at once its bytes are known to be right.
///
/// `validate` runs once, when the process first touches the page, after the checksum. It must leave
/// nothing that later reads rely on unchecked: a hostile file can carry a right checksum.
protocol PageContent {
  static var kind: PageKind { get }

  /// Throws unless `page`, found by `reference`, can be read without leaving its bounds.
  static func validate(_ page: RawSpan, _ reference: PageReference, level: UInt8) throws(StoreError)
}
