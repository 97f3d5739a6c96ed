package record

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// fill draws every exported field, whatever there is: a field that is added later is compared too. Pointers to zero, empty slices and nil
// ones occur.
func fill(t *rapid.T, v reflect.Value) {
	if body, ok := v.Addr().Interface().(*Body); ok {
		fill(t, reflect.ValueOf(&body.ranges).Elem())
		return
	}
	if v.Type() == reflect.TypeFor[Reading]() || v.Type() == reflect.TypeFor[CountedText]() { // the binary form does not include them
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			if rapid.Bool().Draw(t, "filled") {
				fill(t, v.Elem())
			}
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "len"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	default:
		t.Fatalf("a field of kind %s: the binary form must learn it", v.Kind())
	}
}

func TestARecordComesBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want, got Record
		fill(t, reflect.ValueOf(&want).Elem())
		if err := got.Read(want.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Record{}, Message{}), cmp.AllowUnexported(Body{})); d != "" {
			t.Fatal(d)
		}
	})
}

func TestAnotherLayoutIsRefused(t *testing.T) {
	b := new(Record).Append(nil)
	b[0] += 2 // the next version, as a varint
	if err := new(Record).Read(b); err == nil {
		t.Error("a record of another layout was read")
	}
	if err := new(Record).Read(append(new(Record).Append(nil), 0)); err == nil {
		t.Error("bytes behind a record were ignored")
	}
}

func FuzzReadRecord(f *testing.F) {
	r := Record{Messages: []Message{{Raw: []byte("data: x")}}, Trace: &Trace{}, Error: &Error{Type: "E"}}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again Record
		if got.Read(b) != nil {
			return
		}
		if err := again.Read(got.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, again, cmpopts.IgnoreUnexported(Record{}, Message{}), cmp.AllowUnexported(Body{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}
