import Cambium

/// The faults that are to come, and the count of calls that says when.
struct FaultSchedule {
  private struct Entry {
    let fault: Fault
    let moment: Moment
    let persistence: Persistence
    /// For a fault at a numbered call, what kind of call that turned out to be.
    var operation: Operation?
  }

  private var entries: [Entry] = []
  private(set) var calls: [Call] = []
  private var countAtSite: [Site: Int] = [:]
  private var countOfOperation: [Operation: Int] = [:]

  mutating func add(_ fault: Fault, at moment: Moment, _ persistence: Persistence) {
    entries.append(Entry(fault: fault, moment: moment, persistence: persistence))
  }

  mutating func removeAll() {
    entries = []
  }

  func count(at site: Site) -> Int { countAtSite[site, default: 0] }
  func count(of operation: Operation) -> Int { countOfOperation[operation, default: 0] }

  /// Counts the call and returns its fault: of several faults the one set first.
  mutating func next(_ call: Call) -> Fault? {
    var result: Fault?
    for index in entries.indices where matches(&entries[index], call) {
      result = result ?? entries[index].fault
    }
    calls.append(call)
    countAtSite[call.site, default: 0] += 1
    countOfOperation[call.operation, default: 0] += 1
    return result
  }

  private func matches(_ entry: inout Entry, _ call: Call) -> Bool {
    guard entry.fault.applies(to: call.operation) else { return false }
    let (distance, isSameKind) = distance(to: &entry, call)
    return isSameKind && (distance == 0 || (distance > 0 && entry.persistence == .forGood))
  }

  /// How far the call is past the entry's moment, and whether it is of a kind with the one there.
  private func distance(to entry: inout Entry, _ call: Call) -> (Int, Bool) {
    switch entry.moment {
    case .call(let number):
      if calls.count == number { entry.operation = call.operation }
      return (calls.count - number, entry.operation == call.operation)
    case .site(let site, let number):
      return (count(at: site) - number, site == call.site)
    case .operation(let operation, let number):
      return (count(of: operation) - number, operation == call.operation)
    }
  }
}
