// Kinds that leave their hierarchy while others stay, so that their records need a tree of their own. Where the migration is
// deferred, both trees begin with all rows, and those that do not belong to one of them are hidden there:
//
//     version 1    Trip: trips, business trips            one tree
//     published    Trip          the same tree, business trips hidden
//                  BusinessTrip  the same pages, all others hidden
//     finished     two trees

extension SchemaChange {
  /// The changes of records that get a tree of their own, by the number of the new record, ascending. They come from one
  /// record, and none is there before them.
  var leaving: [(number: UInt32, ways: [RecordChange])] {
    Dictionary(grouping: moves.filter(getsOwnTree)) { $0.new.number }
      .sortedRarely { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns true if the records of a move get a tree of their own, in which no others are.
  func getsOwnTree(_ move: RecordChange) -> Bool {
    let target = move.new.number
    return move.old.number != target && from.record(number: target) == nil
      && !records.contains { $0.new.number == target }
      && !gathered.contains { $0.new.number == target }
      && moves.allSatisfy { $0.new.number != target || $0.old.number == move.old.number }
  }

  /// The changes of the records that leave a record for trees of their own.
  func departures(from number: UInt32) -> [RecordChange] {
    moves.filter { $0.old.number == number && getsOwnTree($0) }
  }
}

/// The trees of rows that steps make of others, by the numbers of records.
struct LeavingTrees {
  /// A tree that begins as another is: as a copy of it, or, if `isMoved`, in its place.
  struct Begin: Hashable {
    let source: UInt32
    let target: UInt32
    let isMoved: Bool
  }

  private(set) var begins: [Begin] = []

  /// - Parameter steps: In their order, each deferrable.
  init(_ steps: [SchemaChange]) {
    guard let first = steps.first else { return }
    // Of each record the one of the first version whose tree has its rows.
    var sources: [UInt32: UInt32] = [:]
    for record in first.from.records { sources[record.number] = record.number }
    for step in steps {
      var next: [UInt32: UInt32] = [:]
      for record in step.records {
        let number = record.new.number
        if !step.departures(from: number).isEmpty, step.ways(of: number).isEmpty { continue }
        next[number] = sources[number]
      }
      for (number, ways) in step.leaving {
        next[number] = ways.first.flatMap { sources[$0.old.number] }
      }
      sources = next
    }
    let made = Dictionary(grouping: sources.filter { $0.key != $0.value }.keys) { sources[$0] ?? 0 }
    for (source, targets) in made.sortedRarely(by: { $0.key < $1.key }) {
      let isKept = sources[source] == source
      let targets = targets.sortedRarely()
      for target in targets {
        begins.append(
          Begin(source: source, target: target, isMoved: !isKept && target == targets.last))
      }
    }
  }

  /// The records whose trees go to others whole.
  var moved: Set<UInt32> { Set(begins.filter(\.isMoved).map(\.source)) }
}
