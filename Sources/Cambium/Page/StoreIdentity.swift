/// The 16 random bytes that tell one store from every other.
///
/// They are part of every page's checksum, so a page of another store is never taken for one of
/// this store.
struct StoreIdentity: Hashable, Sendable {
  /// The first eight bytes, lowest first.
  let low: UInt64
  /// The last eight bytes, lowest first.
  let high: UInt64
  /// The checksum of the 16 bytes, with which that of every page and of every frame of the log begins.
  let pageChecksum: PageChecksum

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
    var pageChecksum = PageChecksum()
    pageChecksum.update(low)
    pageChecksum.update(high)
    self.pageChecksum = pageChecksum
  }

  /// Makes an identity that no other store has, as far as `generator` is random.
  init(using generator: inout some RandomNumberGenerator) {
    let low = generator.next()
    self.init(low: low, high: generator.next())
  }
}
