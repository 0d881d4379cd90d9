/// Titles for plots, in words that a reader knows who has not read the benchmarks. Tables have the short names, which options take.
enum WorkloadTitles {
  private static let parts = [
    "tree": "Keys and values", "commit": "Single commits", "load": "Loading", "records": "Structs",
    "query": "Queries", "migrate": "Migrations", "blobs": "Blobs", "compact": "Compaction",
    "relate": "Relations", "scale": "Random keys", "import": "Imports",
    "text": "Searches for words",
  ]

  private static let workloads: [String: [String: String]] = [
    "tree": [
      "load-shuffled": "Load, in random order", "load-sorted": "Load, sorted",
      "first-reads": "First reads after opening", "point-read-hits": "Reads of keys that exist",
      "point-read-misses": "Reads of keys that do not exist",
      "batch-reads": "Reads of several keys at once", "ranges": "Short ranges",
      "scan": "Scan of everything",
    ],
    "load": [
      "load-shuffled": "Load, in random order", "load-sorted": "Load, sorted",
      "load-batches": "Load, in batches", "removal": "Remove half",
    ],
    "records": [
      "insert-each": "Insert, one a commit", "save-each": "Save, one a commit",
      "insert-once": "Insert, all in a commit", "insert-batches": "Insert, in batches",
      "fetch": "Fetch by key", "fetch-each": "Fetch by key, each in a snapshot",
      "scan": "Scan of everything", "update": "Update, in batches", "delete": "Delete, in batches",
    ],
    "query": [
      "equality": "Equality, by an index", "range": "Range, by an index",
      "prefix": "Beginning of a string, by an index", "compound": "Two fields, by an index of both",
      "ordered-top-20": "First 20, ordered by an index",
      "sorted-top-20": "First 20, sorted in memory", "count-range": "Count of a range",
      "page-10000": "Page at offset 10,000", "scan-1-percent": "1 % of all, without an index",
      "sum": "Sum of a field", "group": "Sums by group",
    ],
    "migrate": [
      "add": "Add a required field", "rename": "Rename a field", "remove": "Remove a field",
      "require": "Make a field required", "widen": "Widen a number",
      "transform": "Convert values by a closure", "split": "Split a record into two",
      "chain": "Five versions in one go", "rollback": "Roll a migration back",
    ],
    "compact": ["compact": "Compact after half was removed"],
    "commit": ["commit": "A commit"], "scale": ["load-batches": "Load, in batches"],
  ]

  static func part(_ name: String) -> String { parts[name] ?? name.capitalizedFirst }

  static func workload(_ key: Comparison.Key) -> String {
    workloads[key.part]?[key.workload] ?? key.workload.capitalizedFirst
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
