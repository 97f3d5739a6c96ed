package table

import "aiperf/internal/workload/dataset/table/arrow"

// arrowReader reads record batches, from a stream (the cache format of the Hugging Face library) or from a file with an index at its end.
type arrowReader struct{ *arrow.Reader }

func openArrow(in Input, size int64, columns []string) (Reader, error) {
	r, err := arrow.Open(in, size, columns)
	if err != nil {
		return nil, err
	}
	return arrowReader{r}, nil
}

// Close implements Reader. There is nothing to close.
func (arrowReader) Close() error { return nil }
