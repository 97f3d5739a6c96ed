package table

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// batch is the number of rows that are read at once. It is small, because a row may contain an image or audio.
const batch = 16

type parquetReader struct {
	pages   *checkedPages
	rows    *parquet.GenericReader[map[string]any]
	columns []string
	read    []map[string]any
	next    int
	ended   bool
}

func openParquet(in Input, size int64, columns []string) (Reader, error) {
	meta, err := readFooter(in, size)
	if err != nil {
		return nil, err
	}
	checked, err := newPages(in, size, meta)
	if err != nil {
		return nil, err
	}
	file, err := guarded(func() (*parquet.File, error) {
		return parquet.OpenFile(checked, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	})
	if err != nil {
		return nil, checked.failed(err)
	}
	checked.opened(file)
	p := &parquetReader{pages: checked}
	wanted := parquet.Group{}
	for _, f := range file.Schema().Fields() {
		p.columns = append(p.columns, f.Name())
		if len(columns) == 0 || slices.Contains(columns, f.Name()) {
			wanted[f.Name()] = f
		}
	}
	schema := file.Schema()
	if len(wanted) < len(p.columns) && len(wanted) > 0 {
		schema = parquet.NewSchema(schema.Name(), wanted)
	}
	p.rows = parquet.NewGenericReader[map[string]any](file, schema)
	return p, nil
}

func (p *parquetReader) Columns() []string { return p.columns }

func (p *parquetReader) Next() (Row, error) {
	for p.next == len(p.read) {
		if p.ended {
			return nil, io.EOF
		}
		rows := make([]map[string]any, batch)
		for i := range rows {
			rows[i] = map[string]any{}
		}
		n, err := guarded(func() (int, error) { return p.rows.Read(rows) })
		switch {
		case errors.Is(err, errPanic):
			return nil, p.pages.failed(errValues)
		case err != nil && !errors.Is(err, io.EOF) && !strings.HasPrefix(err.Error(), "column "):
			return nil, p.pages.failed(err)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		p.ended = err != nil
		p.read, p.next = rows[:n], 0
	}
	p.next++
	return plainRow(p.read[p.next-1]), nil
}

func (p *parquetReader) Close() error { return p.rows.Close() }

// plainRow converts numbers to int64 or float64, and bytes to strings.
func plainRow(row Row) Row {
	for k, v := range row {
		row[k] = plain(v)
	}
	return row
}

func plain(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return int64(v)
	case int:
		return int64(v)
	case float32:
		return float64(v)
	case []byte:
		return string(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		return plainRow(v)
	}
	return v
}
