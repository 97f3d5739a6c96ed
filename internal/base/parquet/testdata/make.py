"""make.py: tables of every encoding, codec and nesting, written by pyarrow, and what they hold as JSON lines (pip install pyarrow)."""
import datetime, decimal, json, random
import pyarrow as pa, pyarrow.parquet as pq

random.seed(7)
N = 100
maybe = lambda v: None if random.random() < .2 else v
words = ["", "a", "beta", "prefix one", "prefix two", "zażółć", "x" * 40]
rows = []
for i in range(N):
    rows.append({
        "number": i * i - 5000, "small": random.randrange(-2**31, 2**31), "unsigned": random.randrange(2**32), "big": random.randrange(-2**63, 2**63),
        "float": random.randrange(-999, 999) / 8, "double": maybe(random.random()), "flag": random.random() < .5, "perhaps": maybe(i % 7 == 0),
        "text": maybe(random.choice(words)), "sorted": f"prefix {i:05d} {'z' * (i % 5)}", "fixed": bytes([97 + i % 26, 98, 99, 100]).decode(),
        "list": maybe([maybe(j) for j in range(i % 4)]), "lists": [[random.choice(words) for _ in range(j)] for j in range(i % 3)],
        "messages": maybe([{"role": "user", "content": maybe(random.choice(words)), "tags": ["t"] * (i % 3)} for _ in range(i % 3)]),
        "struct": maybe({"a": maybe(i), "b": {"c": str(i)}}), "map": maybe({f"k{j}": maybe(j) for j in range(i % 3)}),
        "price": maybe(decimal.Decimal(i * 37 - 4000) / 100), "day": i, "at": i * 1000, "none": None})
kinds = {"number": pa.int64(), "small": pa.int32(), "unsigned": pa.uint32(), "big": pa.int64(), "float": pa.float32(), "double": pa.float64(), "flag": pa.bool_(),
    "perhaps": pa.bool_(), "text": pa.string(), "sorted": pa.string(), "fixed": pa.binary(4), "list": pa.list_(pa.int64()), "lists": pa.list_(pa.list_(pa.string())),
    "messages": pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), ("tags", pa.list_(pa.string()))])),
    "struct": pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))]), "map": pa.map_(pa.string(), pa.int64()), "price": pa.decimal128(20, 2),
    "day": pa.date32(), "at": pa.timestamp("ms"), "none": pa.null()}
def column(name, kind):
    values = [r[name] for r in rows]
    if name == "fixed": values = [v.encode() for v in values]
    if name == "map": values = [None if v is None else list(v.items()) for v in values]
    if name == "day": values = [datetime.date(1970, 1, 1) + datetime.timedelta(days=v) for v in values]
    if name == "at": values = [datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=v) for v in values]
    return pa.array(values, kind)
table = pa.table({n: column(n, k) for n, k in kinds.items()})
with open("rows.jsonl", "w") as f:
    for r in rows:
        f.write(json.dumps({**r, "price": None if r["price"] is None else float(r["price"])}, ensure_ascii=False) + "\n")
plain = dict(use_dictionary=False, row_group_size=60, data_page_size=300, write_batch_size=16, store_schema=False)
delta = {"number": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "big": "DELTA_BINARY_PACKED", "text": "DELTA_LENGTH_BYTE_ARRAY", "sorted": "DELTA_BYTE_ARRAY",
    "fixed": "DELTA_BYTE_ARRAY", "flag": "RLE", "perhaps": "RLE", "float": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT", "unsigned": "BYTE_STREAM_SPLIT"}
pq.write_table(table, "dictionary_snappy_v1.parquet", compression="snappy", store_schema=False)
pq.write_table(table, "dictionary_gzip_v2.parquet", compression="gzip", data_page_version="2.0", row_group_size=40, data_page_size=300, write_batch_size=8, store_schema=False)
pq.write_table(table, "plain_none_v1.parquet", compression="none", write_page_checksum=True, **plain)
pq.write_table(table, "plain_brotli_v2.parquet", compression="brotli", data_page_version="2.0", **plain)
pq.write_table(table, "delta_zstd_v2.parquet", compression="zstd", data_page_version="2.0", column_encoding=delta, **plain)
pq.write_table(table, "delta_lz4_v1.parquet", compression="lz4", column_encoding=delta, **plain)
