import CRocksDB
import FoundationEssentials

/// The options of a RocksDB store and of the calls on it.
@safe final class RocksDBSettings {
  let options: OpaquePointer?
  let writing: OpaquePointer?
  let durable: OpaquePointer?
  let reading: OpaquePointer?
  let flushing: OpaquePointer?
  let ingesting: OpaquePointer?
  let environment: OpaquePointer?
  private let table: OpaquePointer?
  private let cache: OpaquePointer?

  init(durability: CommitDurability, byteCount: Int) {
    unsafe cache = rocksdb_cache_create_lru(max(byteCount * 2, 64 << 20))
    unsafe table = rocksdb_block_based_options_create()
    unsafe rocksdb_block_based_options_set_block_cache(table, cache)
    unsafe rocksdb_block_based_options_set_filter_policy(
      table, rocksdb_filterpolicy_create_bloom_full(10))
    unsafe rocksdb_block_based_options_set_block_size(table, 16 << 10)
    unsafe rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1)
    unsafe rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1)
    unsafe rocksdb_block_based_options_set_format_version(table, 5)

    unsafe options = rocksdb_options_create()
    unsafe rocksdb_options_set_create_if_missing(options, 1)
    unsafe rocksdb_options_set_block_based_table_factory(options, table)
    unsafe rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
    unsafe rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
    unsafe rocksdb_options_set_max_background_jobs(options, 6)
    unsafe rocksdb_options_set_bytes_per_sync(options, 1 << 20)
    unsafe rocksdb_options_set_enable_pipelined_write(options, 1)
    unsafe rocksdb_options_set_recycle_log_file_num(options, 4)
    unsafe rocksdb_options_set_manual_wal_flush(options, durability == .relaxed ? 1 : 0)

    unsafe writing = rocksdb_writeoptions_create()
    unsafe rocksdb_writeoptions_set_sync(writing, durability == .durable ? 1 : 0)
    unsafe durable = rocksdb_writeoptions_create()
    unsafe rocksdb_writeoptions_set_sync(durable, 1)
    unsafe reading = rocksdb_readoptions_create()
    unsafe flushing = rocksdb_flushoptions_create()
    unsafe rocksdb_flushoptions_set_wait(flushing, 1)
    unsafe ingesting = rocksdb_ingestexternalfileoptions_create()
    unsafe rocksdb_ingestexternalfileoptions_set_move_files(ingesting, 1)
    unsafe environment = rocksdb_envoptions_create()
  }

  deinit {
    unsafe rocksdb_envoptions_destroy(environment)
    unsafe rocksdb_ingestexternalfileoptions_destroy(ingesting)
    unsafe rocksdb_flushoptions_destroy(flushing)
    unsafe rocksdb_readoptions_destroy(reading)
    unsafe rocksdb_writeoptions_destroy(durable)
    unsafe rocksdb_writeoptions_destroy(writing)
    unsafe rocksdb_options_destroy(options)
    unsafe rocksdb_block_based_options_destroy(table)
    unsafe rocksdb_cache_destroy(cache)
  }
}
