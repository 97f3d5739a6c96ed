package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"aiperf/internal/base/testhome"
)

// The library of the Arrow project writes the files of these tests and reads them as the second witness.

// allTypes are columns of all types that can be read, nested ones too.
func allTypes() *arrow.Schema {
	var fields []arrow.Field
	add := func(types ...arrow.DataType) {
		for _, t := range types {
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d %s", len(fields), t), Type: t, Nullable: true})
		}
	}
	p := arrow.PrimitiveTypes
	add(p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64, p.Float32, p.Float64, arrow.FixedWidthTypes.Float16)
	add(arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary)
	add(arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView, &arrow.FixedSizeBinaryType{ByteWidth: 3})
	for unit := arrow.Second; unit <= arrow.Nanosecond; unit++ {
		add(&arrow.TimestampType{Unit: unit}, &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, &arrow.TimestampType{Unit: unit, TimeZone: "+05:30"}, &arrow.DurationType{Unit: unit})
	}
	add(arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns)
	add(arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64)
	add(&arrow.Decimal128Type{Precision: 20, Scale: 4}, &arrow.Decimal128Type{Precision: 5, Scale: -2}, &arrow.Decimal256Type{Precision: 50, Scale: 9})
	text := arrow.BinaryTypes.String
	turn := arrow.StructOf(arrow.Field{Name: "role", Type: text, Nullable: true}, arrow.Field{Name: "length", Type: p.Int32, Nullable: true})
	add(arrow.ListOf(p.Int64), arrow.LargeListOf(text), arrow.FixedSizeListOf(2, p.Float32), arrow.MapOf(text, p.Int64), turn, arrow.ListOf(arrow.ListOf(turn)))
	add(arrow.ListViewOf(p.Int32), arrow.LargeListViewOf(text))
	add(&arrow.DictionaryType{IndexType: p.Int8, ValueType: text}, &arrow.DictionaryType{IndexType: p.Uint32, ValueType: p.Int64})
	add(arrow.ListOf(&arrow.DictionaryType{IndexType: p.Int16, ValueType: text}))
	return arrow.NewSchema(fields, nil)
}

// fill appends a random value.
func fill(b array.Builder, r *rand.Rand) {
	if r.IntN(4) == 0 {
		b.AppendNull()
		return
	}
	text := strings.Repeat("word é ", r.IntN(5))
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Int8Builder:
		b.Append(int8(r.Int32()))
	case *array.Int16Builder:
		b.Append(int16(r.Int32()))
	case *array.Int32Builder:
		b.Append(int32(r.Uint32()))
	case *array.Int64Builder:
		b.Append(int64(r.Uint64()))
	case *array.Uint8Builder:
		b.Append(uint8(r.Uint32()))
	case *array.Uint16Builder:
		b.Append(uint16(r.Uint32()))
	case *array.Uint32Builder:
		b.Append(r.Uint32())
	case *array.Uint64Builder:
		b.Append(r.Uint64())
	case *array.Float16Builder:
		b.Append(float16.New(float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(9)-7)))))
	case *array.Float32Builder:
		b.Append(float32(r.NormFloat64()))
	case *array.Float64Builder:
		b.Append(r.NormFloat64())
	case *array.StringBuilder:
		b.Append(text)
	case *array.LargeStringBuilder:
		b.Append(text)
	case *array.StringViewBuilder:
		b.Append(text)
	case *array.BinaryViewBuilder:
		b.Append([]byte(text))
	case *array.BinaryBuilder:
		b.Append([]byte(text))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte{1, 2, byte(r.Uint32())})
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(r.Int64N(4e18) - 2e18))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(r.Int64()))
	case *array.Time32Builder:
		b.Append(arrow.Time32(r.IntN(86400)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(r.IntN(86400e6)))
	case *array.Date32Builder:
		b.Append(arrow.Date32(r.IntN(60000) - 30000))
	case *array.Date64Builder:
		b.Append(arrow.Date64((r.Int64N(60000) - 30000) * 86400e3))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(r.Int64N(2e6) - 1e6))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromI64(r.Int64() - 1<<62))
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(b.FieldBuilder(i), r)
		}
	case *array.MapBuilder:
		b.Append(true)
		for i := range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint("key ", i))
			fill(b.ItemBuilder(), r)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		fill(b.ValueBuilder(), r)
		fill(b.ValueBuilder(), r)
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(fmt.Sprint("value ", r.IntN(5))); err != nil {
			panic(err)
		}
	case *array.Int64DictionaryBuilder:
		if err := b.Append(r.Int64N(5)); err != nil {
			panic(err)
		}
	case array.VarLenListLikeBuilder:
		n := r.IntN(4)
		b.AppendWithSize(true, n)
		for range n {
			fill(b.ValueBuilder(), r)
		}
	default:
		panic(fmt.Sprintf("no values for %T", b))
	}
}

// written returns a stream or a file of three random batches.
func written(t testing.TB, schema *arrow.Schema, seed uint64, asFile bool, options ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	options = append(options, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(true))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	w = ipc.NewWriter(&out, options...)
	if asFile {
		f, err := ipc.NewFileWriter(&out, options...)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	r := rand.New(rand.NewPCG(seed, 1))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, n := range []int{7, 0, 40} {
		for range n {
			for i := range schema.NumFields() {
				fill(b.Field(i), r)
			}
		}
		batch := b.NewRecordBatch()
		if asFile && n > 7 { // a part of a batch, whose offsets do not begin at 0
			batch = batch.NewSlice(3, int64(n-2))
		}
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// witness reads a stream or a file with the library.
func witness(t *testing.T, text []byte) (rows []map[string]any) {
	t.Helper()
	take := func(b arrow.RecordBatch) {
		for i := range int(b.NumRows()) {
			row := map[string]any{}
			for k, f := range b.Schema().Fields() {
				row[f.Name] = cell(b.Column(k), i)
			}
			rows = append(rows, row)
		}
	}
	if bytes.HasPrefix(text, []byte(magic)) {
		r, err := ipc.NewFileReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			if err != nil {
				t.Fatal(err)
			}
			take(b)
		}
		return rows
	}
	r, err := ipc.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		take(r.RecordBatch())
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows
}

// cell is the value at place i of a column of the library.
func cell(column arrow.Array, i int) any {
	if column.DataType().ID() == arrow.NULL || column.IsNull(i) {
		return nil
	}
	switch c := column.(type) {
	case *array.Struct:
		out := map[string]any{}
		for k, f := range c.DataType().(*arrow.StructType).Fields() {
			out[f.Name] = cell(c.Field(k), i)
		}
		return out
	case array.ListLike:
		from, to := c.ValueOffsets(i)
		out := []any{}
		for k := from; k < to; k++ {
			out = append(out, cell(c.ListValues(), int(k)))
		}
		return out
	case *array.Dictionary:
		return cell(c.Dictionary(), c.GetValueIndex(i))
	case *array.Float16:
		return float64(c.Value(i).Float32())
	case *array.Uint64:
		if v := c.Value(i); v > math.MaxInt64 {
			return float64(v)
		}
		return int64(c.Value(i))
	case interface{ Value(i int) string }:
		return strings.Clone(c.Value(i))
	case interface{ Value(i int) []byte }:
		return string(c.Value(i))
	case interface{ Value(i int) bool }:
		return c.Value(i)
	case interface{ Value(i int) float64 }:
		return c.Value(i)
	case interface{ Value(i int) float32 }:
		return float64(c.Value(i))
	}
	switch v := reflect.ValueOf(column).MethodByName("Value").Call([]reflect.Value{reflect.ValueOf(i)})[0]; {
	case v.Type().PkgPath() != "": // a time, which is not a number here
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint())
	}
	return column.ValueStr(i)
}

// mostRows is more than any file of these tests has; a damaged one may state a million rows of nulls.
const mostRows = 4096

// ours reads all rows, mostRows at most.
func ours(text []byte, columns ...string) (rows []map[string]any, err error) {
	r, err := Open(bytes.NewReader(text), int64(len(text)), columns)
	if err != nil {
		return nil, err
	}
	for len(rows) < mostRows {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TestAgainstTheLibrary: streams and files of all types, plain and compressed, read as the library reads them.
func TestAgainstTheLibrary(t *testing.T) {
	for name, option := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		for _, asFile := range []bool{false, true} {
			for seed := range uint64(5) {
				schema := allTypes()
				if asFile {
					fields := schema.Fields()
					schema = arrow.NewSchema(fields[:len(fields)-5], nil) // a file cannot replace a dictionary, and the library cannot write parts of list views
				}
				text := written(t, schema, seed, asFile, option...)
				got, err := ours(text)
				if err != nil {
					t.Fatalf("%s, file %v: %v", name, asFile, err)
				}
				want := witness(t, text)
				if len(got) != len(want) || len(got) == 0 {
					t.Fatalf("%s, file %v: %d rows, want %d", name, asFile, len(got), len(want))
				}
				for i := range want {
					for column, w := range want[i] {
						if g, there := got[i][column]; !there || !reflect.DeepEqual(g, w) {
							t.Errorf("%s, file %v, row %d, column %s: %#v, want %#v", name, asFile, i, column, g, w)
						}
					}
					if len(got[i]) != len(want[i]) {
						t.Errorf("row %d has %d columns, want %d", i, len(got[i]), len(want[i]))
					}
				}
			}
		}
	}
}

// TestFileDictionary: a file with one dictionary for all batches.
func TestFileDictionary(t *testing.T) {
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	words := array.NewStringBuilder(memory.DefaultAllocator)
	words.AppendValues([]string{"user", "assistant"}, nil)
	indices := array.NewInt8Builder(memory.DefaultAllocator)
	indices.AppendValues([]int8{1, 0, 0, 1}, []bool{true, true, false, true})
	schema := arrow.NewSchema([]arrow.Field{{Name: "role", Type: kind, Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{array.NewDictionaryArray(kind, indices.NewArray(), words.NewArray())}, 4)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(batch), w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := ours(out.Bytes())
	var got []any
	for _, row := range rows {
		got = append(got, row["role"])
	}
	if want := []any{"assistant", "user", nil, "assistant", "assistant", "user", nil, "assistant"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestNamedColumns: only the columns that were named are read, and those of an unreadable type do not stop that.
func TestNamedColumns(t *testing.T) {
	fields := append(allTypes().Fields(), // the readable columns lie on both sides of the others
		arrow.Field{Name: "months", Type: arrow.FixedWidthTypes.MonthInterval, Nullable: true},
		arrow.Field{Name: "nanos", Type: arrow.FixedWidthTypes.MonthDayNanoInterval, Nullable: true},
		arrow.Field{Name: "sparse", Type: arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{5})},
		arrow.Field{Name: "dense", Type: arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, []arrow.UnionTypeCode{5})},
		arrow.Field{Name: "runs", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64)},
		arrow.Field{Name: "last", Type: arrow.BinaryTypes.String})
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	r := rand.New(rand.NewPCG(1, 1))
	for k := range 10 {
		for i, f := range fields {
			switch c := b.Field(i).(type) {
			case *array.MonthIntervalBuilder:
				c.Append(3)
			case *array.MonthDayNanoIntervalBuilder:
				c.Append(arrow.MonthDayNanoInterval{Months: 1})
			case *array.SparseUnionBuilder:
				c.Append(5)
				c.Child(0).(*array.Int32Builder).Append(1)
			case *array.DenseUnionBuilder:
				c.Append(5)
				c.Child(0).(*array.StringBuilder).Append("x")
			case *array.RunEndEncodedBuilder:
				c.Append(1)
				c.ValueBuilder().(*array.Int64Builder).Append(7)
			default:
				if f.Name == "last" {
					c.(*array.StringBuilder).Append(fmt.Sprint("row ", k))
					continue
				}
				fill(c, r)
			}
		}
	}
	batch := b.NewRecordBatch()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := ours(out.Bytes(), "last", "nowhere")
	if err != nil || len(rows) != 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows {
		if want := map[string]any{"last": fmt.Sprint("row ", i)}; !reflect.DeepEqual(row, want) {
			t.Errorf("row %d: %v", i, row)
		}
	}
	for _, name := range []string{"months", "nanos", "sparse", "dense", "runs"} {
		if _, err := ours(out.Bytes(), name); err == nil || !strings.Contains(err.Error(), "record batch 0: column "+name+": its type (") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen reads any bytes, and streams and files of all types with some bytes changed: rows or an error, no panic, and no words of the run time.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"../testdata/arrow.arrow", "../../custom/testdata/baseten.arrow"} {
		seed, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	schema := allTypes()
	f.Add(written(f, schema, 1, false))
	f.Add(written(f, schema, 1, false, ipc.WithLZ4()))
	f.Add(written(f, arrow.NewSchema(schema.Fields()[:schema.NumFields()-5], nil), 1, true, ipc.WithZstd()))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := ours(text); err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Error(err)
		}
	})
}

// TestDamagedTypes: a stream or file of all types some of whose bytes were changed is an error of this package, or rows.
func TestDamagedTypes(t *testing.T) {
	testhome.Slow(t)
	r := rand.New(rand.NewPCG(3, 4))
	refused := 0
	schema := allTypes()
	for _, whole := range [][]byte{
		written(t, schema, 2, false), written(t, schema, 2, false, ipc.WithZstd()),
		written(t, arrow.NewSchema(schema.Fields()[:schema.NumFields()-5], nil), 2, true, ipc.WithLZ4()),
	} {
		for round := range 300 {
			text := bytes.Clone(whole)
			for range 1 << (round % 4) {
				text[r.IntN(len(text))] ^= byte(1 + r.IntN(255))
			}
			if _, err := ours(text); err != nil {
				refused++
				if !strings.Contains(err.Error(), "record batch ") && !strings.HasPrefix(err.Error(), "its schema: ") {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
	}
	if refused < 200 {
		t.Errorf("only %d of 900 damaged files are refused", refused)
	}
}
