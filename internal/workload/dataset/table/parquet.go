package table

import "aiperf/internal/base/parquet"

func openParquet(in Input, size int64, columns []string) (Reader, error) {
	return parquet.Open(in, size, columns...)
}
