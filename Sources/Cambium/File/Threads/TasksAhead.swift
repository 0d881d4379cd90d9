/// Tasks of a crew whose results are wanted in order, a few of them ahead.
final class TasksAhead<Task: CrewTask> {
  private let crew: WorkCrew
  /// The number of tasks that may be under way at once.
  private let window: Int
  private let make: () throws(StoreError) -> Task
  /// Those under way, in order.
  private var tasks: [Task] = []
  private var spares: [Task] = []

  /// - Parameters:
  ///   - window: The number of tasks that may be under way at once; by default as many as keep the crew at work.
  ///   - make: Makes a task, to be used again and again.
  init(
    _ crew: WorkCrew, window: Int? = nil, making make: @escaping () throws(StoreError) -> Task
  ) {
    self.crew = crew
    self.window = window ?? crew.window
    self.make = make
  }

  deinit { withdraw() }

  /// True if none is under way.
  var isEmpty: Bool { tasks.isEmpty }

  /// True if another task may be submitted before the first is taken.
  var hasRoom: Bool { tasks.count < window }

  /// Returns a task that is not under way.
  ///
  /// - Throws: errors of making one.
  func spare() throws(StoreError) -> Task {
    if let spare = spares.popLast() { return spare }
    return try make()
  }

  func submit(_ task: Task) {
    tasks.append(task)
    crew.submit(task)
  }

  /// Returns the first task of those under way when it is done, and does others of them meanwhile; nil if there are none.
  func takeFirst() -> Task? {
    guard let task = tasks.first else { return nil }
    crew.finish(task, doingMeanwhile: tasks.dropFirst())
    tasks.removeFirst()
    return task
  }

  /// Takes back a task whose result is no longer wanted.
  func recycle(_ task: Task) { spares.append(task) }

  /// Drops all tasks under way: those that are not begun are never done, and results of the others are not used.
  func withdraw() {
    for task in tasks { crew.withdraw(task) }
    spares += tasks
    tasks = []
  }
}
