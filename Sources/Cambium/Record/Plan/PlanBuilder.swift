/// Turns matched properties into the steps of a plan.
struct PlanBuilder {
  let layout: RowLayout
  private(set) var reads: [PlanStep] = []
  private(set) var accesses: [any PropertyAccess] = []
  private(set) var fillers: [any PropertyFiller] = []
  private(set) var tracked: [any TrackedProperty] = []
  private var trackedSteps: [PlanStep] = []
  private(set) var composites: [CompositeSteps] = []
  private var writeByColumn: [Int: PlanStep] = [:]
  private var stepByKeyPart: [Int: KeyStep] = [:]

  init(layout: RowLayout) {
    self.layout = layout
  }

  /// Those of tracked properties come after the composites that they are in.
  var writes: [PlanStep] { layout.columns.indices.compactMap { writeByColumn[$0] } + trackedSteps }

  var keySteps: [KeyStep] { layout.key.columns.indices.compactMap { stepByKeyPart[$0] } }

  /// - Throws: `.invalidDescription` where a bit for each optional composite takes more than there are.
  mutating func add(_ matches: [PropertyMatch], matcher: PropertyMatcher) throws(StoreError) {
    try add(matches, in: 0, matcher: matcher)
    let stored = Set(matcher.record.fields.filter { $0.role == .field }.map(\.name))
    for (index, column) in layout.columns.enumerated() where stored.contains(column.field.name) {
      guard column.place.kind == .composite || isCovered(index, column) else {
        throw matcher.refusal(column.field.name, "no property is stored in it")
      }
    }
  }

  private func isCovered(_ index: Int, _ column: Column) -> Bool {
    column.place.kind == .key
      ? stepByKeyPart[column.place.index] != nil : writeByColumn[index] != nil
  }

  /// - Parameter outer: The optional composites that the properties are in.
  private mutating func add(
    _ matches: [PropertyMatch], in outer: UInt32, matcher: PropertyMatcher
  ) throws(StoreError) {
    for match in matches {
      switch match.use {
      case .scalar(let scalar, let column):
        add(match, .scalar(scalar), detail: 0, column, outer)
      case .access(let access, let column):
        accesses.append(access)
        add(match, .access, detail: accesses.count - 1, column, outer)
      case .transient(let filler):
        fillers.append(filler)
        reads.append(step(match, .transient, detail: fillers.count - 1, nil, outer))
      case .tracked(let property):
        tracked.append(property)
        let step = step(match, .tracked, detail: tracked.count - 1, nil, outer)
        reads.append(step)
        trackedSteps.append(step)
      case .composite(let parts, nil, _):
        try add(parts, in: outer, matcher: matcher)
      case .composite(let parts, let access?, let column):
        let place = composites.count
        try add(match, access, column, outer, matcher)
        try add(parts, in: outer | 1 << UInt32(place), matcher: matcher)
        endComposite(place)
      }
    }
  }

  private mutating func add(
    _ match: PropertyMatch, _ action: PlanStep.Action, detail: Int, _ column: Int, _ outer: UInt32
  ) {
    let place = layout.columns[column].place
    if place.kind == .key {
      stepByKeyPart[place.index] = KeyStep(
        action: action, offset: UInt32(match.offset), detail: UInt32(detail),
        column: layout.key.columns[place.index])
      return
    }
    let step = step(match, action, detail: detail, column, outer)
    reads.append(step)
    writeByColumn[column] = step
  }

  private func step(
    _ match: PropertyMatch, _ action: PlanStep.Action, detail: Int, _ column: Int?, _ outer: UInt32
  ) -> PlanStep {
    PlanStep(
      action: action, isOptional: match.isOptional, offset: UInt32(match.offset),
      place: column.map { layout.columns[$0].place }
        ?? ColumnPlace(.composite, index: 0, nullBit: nil),
      detail: UInt32(detail), composites: outer)
  }
}

// MARK: Optional composites

extension PlanBuilder {
  private mutating func add(
    _ match: PropertyMatch, _ access: any CompositeAccess, _ column: Int, _ outer: UInt32,
    _ matcher: PropertyMatcher
  ) throws(StoreError) {
    let place = composites.count
    guard place < CompositeSteps.most else {
      throw matcher.refusal(
        layout.columns[column].field.name,
        "there are more than \(CompositeSteps.most) optional composites")
    }
    composites.append(
      CompositeSteps(access: access, column: column, first: reads.count, last: reads.count))
    let step = step(match, .composite, detail: place, column, outer)
    reads.append(step)
    writeByColumn[column] = step
  }

  private mutating func endComposite(_ place: Int) {
    let begin = reads[composites[place].first]
    composites[place].last = reads.count
    reads.append(
      PlanStep(
        action: .compositeEnd, isOptional: true, offset: begin.offset, place: begin.place,
        detail: begin.detail, composites: begin.composites))
  }
}
