"""make.py: small files with values that a reader gets wrong easily (pip install pyarrow fastparquet pandas)."""
import base64, decimal, math
import fastparquet, numpy as np, pandas as pd, pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe

D = decimal.Decimal
table = pa.table({
    "half": pa.array([np.float16(x) for x in (1.5, -0.0, 6e-8, math.inf, -65504.0)], pa.float16()),
    "large": pa.array([2**64 - 1, 2**63, 2**63 - 1, 0, 1], pa.uint64()),
    "cents": pa.array([D("66.49"), D("-1234567.89"), D("0.01"), D("9999999.99"), None], pa.decimal128(9, 2)),
    "digits": pa.array([D("-727519304.716682600"), D("571244494.587987000"), D("123456789.123456789"), D("0"), None], pa.decimal128(18, 9)),
    "wide": pa.array([D("0.1"), D("-8.7654321098765432109876543210"), D("1"), None, D("123456789.5")], pa.decimal128(38, 28)),
    "times": pa.array([0, 1, 2, None, 3], pa.timestamp("ms"))})
pq.write_table(table, "numbers.parquet", store_schema=False, store_decimal_as_integer=True, use_dictionary=False, compression="none")
pq.write_table(table.slice(0, 0), "empty.parquet", store_schema=False)
fastparquet.write("old_lz4.parquet", pd.DataFrame({"text": [f"prompt {i} " + "word " * 9 for i in range(20)]}), compression="LZ4")

class Keys(pe.KmsClient):
    def wrap_key(self, key, _): return base64.b64encode(key)
    def unwrap_key(self, key, _): return base64.b64decode(key)
for name, plain in (("locked_column.parquet", True), ("locked.parquet", False)):
    how = pe.EncryptionConfiguration(footer_key="f", column_keys={"b": ["b"]}, plaintext_footer=plain, double_wrapping=False)
    properties = pe.CryptoFactory(lambda _: Keys()).file_encryption_properties(pe.KmsConnectionConfig(), how)
    with pq.ParquetWriter(name, pa.schema([("a", pa.int64()), ("b", pa.string())]), encryption_properties=properties) as out:
        out.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}))
