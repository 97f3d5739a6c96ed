package binenc

import (
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	Name  string
	Size  *float64
	Flags map[string]bool
}

type outer struct {
	Yes    bool
	Small  int8
	Kind   uint32
	Number int
	Raw    []byte
	List   []inner
	Zero   *int
	None   *inner
	Pair   [2]string
	Many   map[string][]string
	Skip   func()
	hidden int
}

func TestValue(t *testing.T) {
	zero, size := 0, 2.5
	one := outer{
		Yes: true, Small: -7, Kind: 1<<32 - 1, Number: 1 << 40, Raw: []byte("raw"), List: []inner{{"a", &size, map[string]bool{"x": true, "b": false}}, {}}, Zero: &zero,
		Pair: [2]string{"p", "q"}, Many: map[string][]string{"k": {"v", ""}, "empty": {}, "none": nil}, Skip: func() {}, hidden: 3,
	}
	w := NewWriter(nil)
	Value(w, &one)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	var back outer
	r := NewReader(w.Bytes())
	if Value(r, &back); r.Err() != nil || len(r.Bytes()) != 0 {
		t.Fatalf("%v, %d bytes left", r.Err(), len(r.Bytes()))
	}
	one.Skip, one.hidden = nil, 0
	if !reflect.DeepEqual(one, back) {
		t.Errorf("%+v, want %+v", back, one)
	}
	for n := range w.Bytes() {
		r := NewReader(w.Bytes()[:n])
		if Value(r, new(outer)); r.Err() == nil {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

func TestValueWithoutForm(t *testing.T) {
	for _, v := range []any{&struct{ A any }{1}, &struct{ C chan int }{}, &struct{ M map[int]string }{}} {
		w := NewWriter(nil)
		if Value(w, v); w.Err() == nil || !strings.Contains(w.Err().Error(), "no binary form") {
			t.Errorf("%T: %v", v, w.Err())
		}
	}
	w := NewWriter(nil)
	n := 300
	w.Int(&n)
	less := -1
	under := NewWriter(nil)
	under.Int(&less)
	r := NewReader(under.Bytes())
	var kind struct{ N uint32 }
	if Value(r, &kind); r.Err() == nil {
		t.Error("-1 is not negative")
	}
	r = NewReader(w.Bytes())
	var small struct{ N int8 }
	if Value(r, &small); r.Err() == nil {
		t.Error("300 fits into 8 bits")
	}
}
