package console

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestNoTextPaints: whatever texts a run holds, a coloured report has only the escape sequences of the report's style.
func TestNoTextPaints(t *testing.T) {
	draw := func(evil string) string {
		r := run(t, 3, 2)
		r.Cancelled, r.Files = true, []metric.File{{}}
		r.Validity = &metric.Validity{Notes: []string{""}}
		r.Profiling.Errors = []metric.ErrorGroup{{Error: record.Error{}, Count: 2}}
		plant(reflect.ValueOf(r).Elem(), evil)
		plant(reflect.ValueOf(r.Validity).Elem(), evil)
		plant(reflect.ValueOf(&r.Profiling.Errors[0].Error).Elem(), evil)
		var b bytes.Buffer
		for _, o := range []Options{{Colour: true}, {Colour: true, Terminal: true, Width: 90, AllTables: true}} {
			if err := errors.Join(Console(&b, r, o), Footer(&b, r, o), Headline(&b, r, "d"+evil, 3, o)); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	tame, evil := draw("word"), draw("wo\x1b[31mrd\u202e")
	if got, want := strings.Count(evil, "\x1b"), strings.Count(tame, "\x1b"); got != want || strings.Contains(evil, "\u202e") {
		t.Errorf("%d escape sequences, want %d", got, want)
	}
}

// plant puts a text into every text of a struct, its inner structs and lists.
func plant(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				plant(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			plant(v.Index(i), text)
		}
	}
}
