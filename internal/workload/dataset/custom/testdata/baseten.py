"""Writes the tables of the tests of baseten_trace, with pyarrow. Usage: baseten.py FOLDER."""
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.ipc as ipc, sys, os
out=sys.argv[1]; os.makedirs(out, exist_ok=True)
rows=[ # session, start, prompt, in, out, e2e, hashes
 ("s2", 1700000003000, "later", 3, 0, 500, None),
 ("s1", 1700000000000, "first", 5, 7, 400, [1,2]),
 ("s1", 1700000002000, "first second", 9, 8, 600, [1,2,3]),
 (None, 1700000100000, "alone é", 4, 6, None, []),
]
t=pa.table({"timestamp_start_unix_ms":pa.array([r[1] for r in rows],pa.int64()),"prompt":[r[2] for r in rows],"input_tokens":pa.array([r[3] for r in rows],pa.int32()),
 "output_tokens":pa.array([r[4] for r in rows],pa.int64()),"duration_e2e_ms":pa.array([r[5] for r in rows],pa.int64()),"provided_session_id":[r[0] for r in rows],
 "total_hashes":pa.array([r[6] for r in rows],pa.list_(pa.int64())),"block_size":pa.array([64]*4,pa.int64()),"model_name":["x"]*4})
pq.write_table(t, out+"/baseten.parquet", row_group_size=2, compression="zstd")
with ipc.new_file(out+"/baseten.arrow", t.schema) as w: w.write_table(t, 3)
pq.write_table(t.drop(["prompt"]), out+"/noprompt.parquet")
