package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/sorting"
)

// Put sets the value at the key of a setting (setting.Row.Key). It creates missing parents and converts a number to the type of the field. Setting
// the mean or the spread of a distribution makes it a normal one. The other of the two keeps its value, or gets its default.
func (r *Run) Put(key string, value any) error {
	v, _, ok := r.place(key, true)
	if !ok {
		return fmt.Errorf("there is no key %s", key)
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	given := reflect.ValueOf(value)
	if given.Kind() == reflect.Slice && v.Kind() == reflect.Slice && given.Type() != v.Type() { // a list of numbers of another type
		list := reflect.MakeSlice(v.Type(), 0, given.Len())
		for i := range given.Len() {
			if one := given.Index(i); one.CanConvert(v.Type().Elem()) {
				list = reflect.Append(list, one.Convert(v.Type().Elem()))
			}
		}
		given = list
	}
	if !given.IsValid() || !given.CanConvert(v.Type()) || (v.Kind() == reflect.String) != (given.Kind() == reflect.String) {
		return fmt.Errorf("%v does not fit %s", value, key)
	}
	v.Set(given.Convert(v.Type()))
	return nil
}

// Lookup returns the value at the key of a setting; nil if it or a parent is missing.
func (r *Run) Lookup(key string) any {
	v, _, ok := r.place(key, false)
	if !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return reflect.Indirect(v).Interface()
}

// place returns the field of a key; if build is set, it creates missing parents. omitted means that a file omits the field's zero value.
func (r *Run) place(key string, build bool) (field reflect.Value, omitted, ok bool) {
	parts := strings.Split(key, ".")
	v := reflect.ValueOf(&r.Benchmark).Elem()
	if slices.Contains(envelope, parts[0]) {
		v = reflect.ValueOf(r).Elem()
	}
	for i, part := range parts {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !build {
					return v, false, false
				}
				v.Set(fresh(v.Type().Elem()))
			}
			if d, ok := v.Interface().(*Distribution); ok && build {
				*d = *Normal(d.MeanOr(defaultMean(parts[:i])), d.StddevOr0())
			}
			v = v.Elem()
		}
		next, omit, ok := r.enter(v, part)
		if !ok {
			return v, false, false
		}
		v, omitted = next, omit
	}
	return v, omitted, true
}

// fresh creates a missing parent of a key, with the defaults that do not depend on others.
func fresh(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	switch p := v.Interface().(type) {
	case *Prompts:
		*p = *DefaultPrompts()
		p.ISL = nil
	case *Synthesis:
		*p = DefaultSynthesis()
	case *Convergence:
		*p = DefaultConvergence()
	case *Images:
		*p = *DefaultImages()
	case *Audio:
		*p = *DefaultAudio()
	case *Video:
		*p = *DefaultVideo()
	case *VideoAudio:
		*p = *DefaultVideoAudio()
	}
	return v
}

// enter descends one part of a key.
func (r *Run) enter(v reflect.Value, part string) (field reflect.Value, omitted, ok bool) {
	switch v.Kind() {
	case reflect.Struct:
		if f, known := fieldsOf(v.Type())[part]; known {
			return v.Field(f.index), f.omitted, true
		}
	case reflect.Slice:
		for i := range v.Len() {
			switch one := v.Index(i).Addr().Interface().(type) {
			case *Phase:
				if p := r.firstOf(PhaseKind(part)); p == one || one.Name == part {
					return v.Index(i), false, true
				}
			case *Dataset:
				if i == 0 && (part == "main" || part == one.Name) {
					return v.Index(i), false, true
				}
			}
		}
	}
	return v, false, false
}

// keyedField is a field of a struct: its index, and whether a file omits its zero value.
type keyedField struct {
	index   int
	omitted bool
}

// fieldsByType holds a map[string]keyedField for each reflect.Type that fieldsOf has seen: reading the tags takes longer than the look-up.
var fieldsByType sync.Map

// fieldsOf returns the fields of a struct type by their keys.
func fieldsOf(t reflect.Type) map[string]keyedField {
	if known, ok := fieldsByType.Load(t); ok {
		return known.(map[string]keyedField)
	}
	fields := map[string]keyedField{}
	for i := range t.NumField() {
		f := t.Field(i)
		if _, twice := fields[fieldKey(f)]; !twice {
			fields[fieldKey(f)] = keyedField{i, strings.Contains(f.Tag.Get("yaml"), "omitempty")}
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// fieldKey returns the key of a field in a file. A distribution, which decodes itself, uses the names of its fields.
func fieldKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if key == "" {
		key = strings.ToLower(f.Name)
	}
	return key
}

// keyed maps keys to rows. Of several flags with one key, flags that store their value unchanged come first.
var keyed = sync.OnceValue(func() map[string][]setting.Row {
	by := map[string][]setting.Row{}
	for _, row := range Rows() {
		if row.Key != "" {
			by[row.Key] = append(by[row.Key], row)
		}
	}
	for _, rows := range by {
		sorting.Stable(rows, func(a, b setting.Row) int {
			switch {
			case a.Manual == b.Manual:
				return 0
			case a.Manual:
				return 1
			}
			return -1
		})
	}
	return by
})

// RowsOf returns the settings of a key; none if no flag or variable sets it.
func RowsOf(key string) []setting.Row { return keyed()[key] }

// FlagOf returns the first flag of a key, or the key itself if no flag sets it.
func FlagOf(key string) string {
	for _, row := range RowsOf(key) {
		if row.Name() != "" {
			return row.Name()
		}
	}
	return key
}

// defaultMean returns the mean of a distribution for which only the spread is given.
func defaultMean(distribution []string) float64 {
	for _, row := range RowsOf(strings.Join(distribution, ".") + ".mean") {
		if f, err := strconv.ParseFloat(row.Default, 64); err == nil {
			return f
		}
	}
	return 0
}
