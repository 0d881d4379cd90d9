import Cambium

extension StoreInspection {
  var json: JSONValue {
    [
      "path": .string(path),
      "identity": .string(identity),
      "format": JSONValue(format),
      "isOpenForWriting": .boolean(isOpenForWriting),
      "sequence": JSONValue(sequence),
      "foldedSequence": JSONValue(foldedSequence),
      "size": JSONValue(size),
      "pageBytes": JSONValue(pageBytes),
      "livePageBytes": JSONValue(livePageBytes),
      "held": heldSpace.json,
      "blobs": [
        "count": JSONValue(blobCount), "size": JSONValue(blobBytes),
        "liveBytes": JSONValue(liveBlobBytes), "garbageBytes": JSONValue(garbageBlobBytes),
      ],
      "version": version.map { JSONValue($0) } ?? .null,
      "versions": .array(schemas.map(\.summary)),
      "kept": .array(
        keptVersions.map { kept in
          [
            "version": JSONValue(kept.version), "label": JSONValue(kept.label),
            "sequence": JSONValue(kept.sequence),
          ]
        }),
      "keptBytes": JSONValue(keptBytes),
      "pending": pendingMigration?.json ?? .null,
      "records": .array(statistics.records.map(\.json)),
      "segments": .array(
        segments.map { segment in
          [
            "kind": .string(segment.kind.rawValue), "number": JSONValue(segment.number),
            "size": JSONValue(segment.size), "liveBytes": JSONValue(segment.liveBytes),
          ]
        }),
      "log": [
        "size": JSONValue(log.size), "usedBytes": JSONValue(log.usedBytes),
        "use": JSONValue(log.use),
      ],
      "commits": .array(
        lastCommits.map { commit in
          [
            "sequence": JSONValue(commit.sequence),
            "date": .string(FieldValue.date(commit.date).cell), "author": JSONValue(commit.author),
          ]
        }),
    ]
  }
}

extension Schema {
  fileprivate var summary: JSONValue {
    [
      "version": JSONValue(version), "label": JSONValue(label),
      "fingerprint": .string("\(fingerprint)"),
    ]
  }
}

extension PendingMigration {
  fileprivate var json: JSONValue {
    [
      "from": JSONValue(from), "to": JSONValue(to), "records": JSONValue(recordCount),
      "indexes": .array(indexes.map { .string($0) }),
    ]
  }
}

extension RecordStatistics {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "count": JSONValue(count), "rowBytes": JSONValue(rowBytes),
      "indexBytes": JSONValue(indexBytes), "levelBytes": JSONValue(levelBytes),
      "references": .object(
        references.sorted { $0.key < $1.key }.map {
          .init(name: $0.key, value: JSONValue($0.value))
        }),
    ]
  }
}
