package import Cambium

/// A kind of call on the file system.
package enum Operation: UInt8, Hashable, Sendable, CaseIterable {
  case open, size, read, write, sync, syncDirectory, truncate
  case rename, unlink, list, lock, isLocked, lockDirectory, isNamed, map, willNeed
}

/// One call on the file system. Calls are numbered from 0.
package struct Call: Hashable, Sendable {
  package let operation: Operation
  package let site: Site

  package init(operation: Operation, site: Site) {
    self.operation = operation
    self.site = site
  }
}

/// A call, picked before it is made.
package enum Moment: Hashable, Sendable {
  /// The call with this number, counted from 0.
  case call(Int)
  /// The call with this number of those from a site, counted from 0.
  case site(Site, Int)
  /// The call with this number of those of a kind, counted from 0.
  case operation(Operation, Int)
}

extension Moment: CustomStringConvertible {
  /// As one writes it, without the dot.
  package var description: String {
    switch self {
    case .call(let number): "call(\(number))"
    case .site(let site, let number): "site(.\(site), \(number))"
    case .operation(let operation, let number): "operation(.\(operation), \(number))"
    }
  }
}
