@testable import Cambium

/// The first record of a model of these.
func checkedRecord<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> CheckedRecord {
  let model = try StoreModel(records: [type]).checked()
  return model.records[0]
}

func makePlan<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> RecordPlan {
  let record = try checkedRecord(type)
  return try RecordPlan(record, layout: try RowLayout(record.schema, version: 1))
}
