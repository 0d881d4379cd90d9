/// The difference between the sections of a query's results at two times: which sections and records came, went, moved and
/// changed, and where.
///
/// ```swift
/// sections = results.difference.applying(to: sections)
/// ```
///
/// To apply it step by step:
///
/// 1. Remove the removals and the moves from their places in the old sections, from the last to the first.
/// 2. Remove the removed sections, which are empty now, from the last to the first.
/// 3. Insert the inserted sections, still empty, from the first to the last.
/// 4. Insert the insertions and the moves at their places in the new sections, from the first to the last.
/// 5. Replace the updates.
///
/// All lists are sorted by section and row. Sections never move: they are sorted by their keys, which do not change.
///
/// Idea: the delegate of `NSFetchedResultsController` in Core Data, which reports the same changes.
public struct SectionDifference<Subject: Record, Key: Sendable>: Sendable {
  /// The sections that are gone, with their offsets among the old sections. Their records are among the removals and moves.
  public internal(set) var removedSections: [Section] = []
  /// The new sections, with their offsets among the new sections. Their records are among the insertions and moves.
  public internal(set) var insertedSections: [Section] = []
  /// The records that are gone, with their places in the old sections.
  public internal(set) var removals: [Row] = []
  /// The new records, with their places in the new sections.
  public internal(set) var insertions: [Row] = []
  /// The records that have moved within a section or to another one, sorted by their new places. They have changed, and are as
  /// few as possible.
  public internal(set) var moves: [Move] = []
  /// The records that have changed without moving, with their places in the new sections.
  public internal(set) var updates: [Update] = []

  /// A section that is new or gone.
  public struct Section: Sendable {
    /// The offset among the sections.
    public let offset: Int
    /// The key of the section.
    public let key: Key
  }

  /// A record that is new or gone.
  public struct Row: Sendable {
    /// The place of the record.
    public let place: SectionPlace
    /// The record.
    public let record: Subject
  }

  /// A record that has moved.
  public struct Move: Sendable {
    /// The place in the old sections.
    public let oldPlace: SectionPlace
    /// The place in the new sections.
    public let newPlace: SectionPlace
    /// The record before and after.
    public let change: ChangeSet<Subject>.Update
  }

  /// A record that has changed without moving.
  public struct Update: Sendable {
    /// The place in the new sections.
    public let place: SectionPlace
    /// The record before and after.
    public let change: ChangeSet<Subject>.Update
  }

  /// True if nothing has changed.
  public var isEmpty: Bool {
    // A section comes and goes with a record.
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

// MARK: Applying

extension SectionDifference {
  /// Returns the new sections, made from the old ones.
  ///
  /// ```swift
  /// for try await results in try store.results(of: books, sectionedBy: \.genre) {
  ///   sections = results.difference.applying(to: sections)
  /// }
  /// ```
  ///
  /// - Parameter sections: The old sections.
  /// - Complexity: Linear in the sections, and in the records of those that change.
  /// - Precondition: `sections` are the old sections.
  public func applying(
    to sections: [RecordSection<Subject, Key>]
  ) -> [RecordSection<Subject, Key>] {
    var sections = sections
    let leaving = removals.map(\.place) + moves.map(\.oldPlace)
    for (section, places) in Dictionary(grouping: leaving, by: \.section) {
      sections[section].records.replace(removing: places.map(\.row).sorted(), inserting: [])
    }
    sections.replace(
      removing: removedSections.map(\.offset),
      inserting: insertedSections.map { ($0.offset, RecordSection(key: $0.key, records: [])) })
    let coming =
      insertions.map { ($0.place, $0.record) } + moves.map { ($0.newPlace, $0.change.new) }
    for (section, rows) in Dictionary(grouping: coming, by: \.0.section) {
      sections[section].records.replace(
        removing: [], inserting: rows.map { ($0.0.row, $0.1) }.sorted { $0.0 < $1.0 })
    }
    for update in updates {
      sections[update.place.section].records[update.place.row] = update.change.new
    }
    return sections
  }
}

// MARK: Making

extension SectionDifference {
  /// Creates the difference between sections from that between the results in them.
  ///
  /// - Parameters:
  ///   - oldKey: Returns the key of the section at an offset among the old ones.
  ///   - newKey: Returns the key of the section that a record is in.
  init(
    _ flat: ResultDifference<Subject>, from old: OrderedSections, to new: OrderedSections,
    oldKey: (Int) -> Key, newKey: (Subject) -> Key
  ) {
    removals = flat.removals.map { Row(place: old.place(at: $0.offset), record: $0.record) }
    insertions = flat.insertions.map { Row(place: new.place(at: $0.offset), record: $0.record) }
    moves = flat.moves.map { move in
      Move(
        oldPlace: old.place(at: move.oldOffset), newPlace: new.place(at: move.newOffset),
        change: move.change)
    }
    updates = flat.updates.map { Update(place: new.place(at: $0.offset), change: $0.change) }
    addSections(old, new, oldKey, newKey)
  }

  private mutating func addSections(
    _ old: OrderedSections, _ new: OrderedSections, _ oldKey: (Int) -> Key,
    _ newKey: (Subject) -> Key
  ) {
    let steps = SectionSteps(from: old, to: new)
    removedSections = steps.removed.map { Section(offset: $0, key: oldKey($0)) }
    var firsts: [Int: Subject] = [:]
    for insertion in insertions where insertion.place.row == 0 {
      firsts[insertion.place.section] = insertion.record
    }
    for move in moves where move.newPlace.row == 0 {
      firsts[move.newPlace.section] = move.change.new
    }
    for offset in steps.inserted {
      guard let first = firsts[offset] else {
        preconditionFailure("a new section has a first record, which came or moved")
      }
      insertedSections.append(Section(offset: offset, key: newKey(first)))
    }
  }
}
