@testable import Cambium

// Descriptions in tests stand outside of records too, where these have no short names.

typealias PrimaryKey = RecordDescription.PrimaryKey
typealias Index = RecordDescription.Index
typealias Unique = RecordDescription.Unique
typealias Transient = RecordDescription.Transient
typealias Validation = RecordDescription.Validation
