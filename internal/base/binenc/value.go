package binenc

import (
	"reflect"
	"strings"

	"aiperf/internal/base/sorting"
)

// Value encodes or decodes a value of any type made of structures, pointers, lists, maps with texts as keys, texts, numbers and truth values: v points to
// it. Only exported fields count, and functions are ignored. Both ends must have the same types. Other types are an error.
func Value(c *Coder, v any) { visitValue(c, reflect.ValueOf(v).Elem()) }

func visitValue(c *Coder, v reflect.Value) {
	if c.err != nil {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() != reflect.Func {
				visitValue(c, v.Field(i))
			}
		}
	case reflect.Pointer:
		if !c.present(!v.IsNil()) {
			v.SetZero()
			return
		}
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		visitValue(c, v.Elem())
	case reflect.Slice:
		visitList(c, v)
	case reflect.Array:
		for i := range v.Len() {
			visitValue(c, v.Index(i))
		}
	case reflect.Map:
		visitMap(c, v)
	default:
		visitScalar(c, v)
	}
}

// visitScalar visits a value without parts.
func visitScalar(c *Coder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		b := v.Bool()
		c.Bool(&b)
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := v.Int()
		if c.Int64(&n); v.OverflowInt(n) {
			c.Fail("%d does not fit into %v", n, v.Type())
		}
		v.SetInt(n)
	case reflect.Uint8:
		b := byte(v.Uint())
		c.Byte(&b)
		v.SetUint(uint64(b))
	case reflect.Uint16, reflect.Uint32:
		n := int64(v.Uint())
		if c.Int64(&n); n < 0 || v.OverflowUint(uint64(n)) {
			c.Fail("%d does not fit into %v", n, v.Type())
			return
		}
		v.SetUint(uint64(n))
	case reflect.Float64:
		f := v.Float()
		c.Float64(&f)
		v.SetFloat(f)
	case reflect.String:
		s := v.String()
		c.String(&s)
		v.SetString(s)
	default:
		c.Fail("values of the type %v have no binary form", v.Type())
	}
}

func visitList(c *Coder, v reflect.Value) {
	if !c.present(!v.IsNil()) {
		v.SetZero()
		return
	}
	n := v.Len()
	c.Len(&n)
	if c.reading {
		v.Set(reflect.MakeSlice(v.Type(), 0, min(n, readAtOnce)))
	}
	for i := range n {
		if c.err != nil {
			return
		}
		if c.reading {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		visitValue(c, v.Index(i))
	}
}

func visitMap(c *Coder, v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		c.Fail("values of the type %v have no binary form", v.Type())
		return
	}
	if !c.present(!v.IsNil()) {
		v.SetZero()
		return
	}
	n := v.Len()
	c.Len(&n)
	keys := v.MapKeys()
	sorting.Sort(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	if c.reading {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for i := range n {
		if c.err != nil {
			return
		}
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if !c.reading {
			key.Set(keys[i])
			value.Set(v.MapIndex(keys[i]))
		}
		visitValue(c, key)
		visitValue(c, value)
		if c.reading {
			v.SetMapIndex(key, value)
		}
	}
}
