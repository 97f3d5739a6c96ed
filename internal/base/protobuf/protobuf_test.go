package protobuf

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestAppend: every kind of field is written as the reference library writes it.
func TestAppend(t *testing.T) {
	var m Message
	m.Varint(1, math.MaxUint64)
	m.Bool(2, true)
	m.Bool(3, false)
	m.Fixed64(4, 7)
	m.Fixed32(500, 8)
	m.Double(6, -0.5)
	m.Bytes(7, []byte{1, 2})
	m.String(8, "é")
	m.StringIfAny(9, "")
	m.StringIfAny(9, "x\xff")
	want := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), math.MaxUint64)
	want = protowire.AppendVarint(protowire.AppendTag(want, 2, protowire.VarintType), 1)
	want = protowire.AppendVarint(protowire.AppendTag(want, 3, protowire.VarintType), 0)
	want = protowire.AppendFixed64(protowire.AppendTag(want, 4, protowire.Fixed64Type), 7)
	want = protowire.AppendFixed32(protowire.AppendTag(want, 500, protowire.Fixed32Type), 8)
	want = protowire.AppendFixed64(protowire.AppendTag(want, 6, protowire.Fixed64Type), math.Float64bits(-0.5))
	want = protowire.AppendBytes(protowire.AppendTag(want, 7, protowire.BytesType), []byte{1, 2})
	want = protowire.AppendString(protowire.AppendTag(want, 8, protowire.BytesType), "é")
	want = protowire.AppendString(protowire.AppendTag(want, 9, protowire.BytesType), "x\uFFFD")
	if !bytes.Equal(m, want) {
		t.Errorf("% x\nwant % x", m, want)
	}
	for _, v := range []int64{0, -1, 1, math.MaxInt64, math.MinInt64} {
		if z := Zigzag(v); z != protowire.EncodeZigZag(v) || Unzigzag(z) != v {
			t.Errorf("%d: %d", v, z)
		}
	}
}

// FuzzFields: any bytes are cut into the same fields as by the reference library, and what it rejects is an error.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{"", "\x08\x01", "\x12\x03abc", "\x0b\x13\x14\x08\x01\x0c", "\x0b\x14", "\x0c", "\x00\x01", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x1d\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08", "\x0e", "\x0b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rest := b
		for got, err := range Fields(b) {
			id, kind, n := protowire.ConsumeField(rest)
			if (err != nil) != (n < 0 || id > protowire.MaxValidNumber) {
				t.Fatalf("% x: error %v, the reference library's %v", rest, err, protowire.ParseError(n))
			}
			if err != nil {
				return
			}
			value := rest[protowire.SizeTag(id):n]
			if padded, _, m := protowire.ConsumeTag(rest); padded == id {
				value = rest[m:n]
			}
			if got.ID != int(id) || int(got.Kind) != int(kind) {
				t.Fatalf("% x: field %d of kind %d, want %d, %d", rest, got.ID, got.Kind, id, kind)
			}
			switch kind {
			case protowire.VarintType:
				if v, _ := protowire.ConsumeVarint(value); v != got.Number {
					t.Fatalf("% x: %d, want %d", rest, got.Number, v)
				}
			case protowire.Fixed32Type:
				if v, _ := protowire.ConsumeFixed32(value); uint64(v) != got.Number {
					t.Fatalf("% x: %d, want %d", rest, got.Number, v)
				}
			case protowire.Fixed64Type:
				if v, _ := protowire.ConsumeFixed64(value); v != got.Number {
					t.Fatalf("% x: %d, want %d", rest, got.Number, v)
				}
			case protowire.BytesType:
				if v, _ := protowire.ConsumeBytes(value); !bytes.Equal(v, got.Content) {
					t.Fatalf("% x: % x, want % x", rest, got.Content, v)
				}
			case protowire.StartGroupType:
				if v, _ := protowire.ConsumeGroup(id, value); !bytes.Equal(v, got.Content) {
					t.Fatalf("% x: % x, want % x", rest, got.Content, v)
				}
			}
			rest = rest[n:]
		}
		if len(rest) > 0 {
			t.Fatalf("% x was not read", rest)
		}
	})
}

// TestNumbers: repeated numbers are read alone and packed; what has another wire type does not fit.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		f    Field
		kind Kind
		want []uint64
		fits bool
		fail bool
	}{
		{Field{Kind: Varint, Number: 3}, Varint, []uint64{3}, true, false},
		{Field{Kind: Bytes, Content: []byte{1, 0x80, 1}}, Varint, []uint64{1, 128}, true, false},
		{Field{Kind: Bytes, Content: []byte{1, 0x80}}, Varint, []uint64{1}, true, true},
		{Field{Kind: Bytes, Content: []byte{1, 0, 0, 0, 2, 0, 0, 0}}, Fixed32, []uint64{1, 2}, true, false},
		{Field{Kind: Bytes, Content: []byte{1, 0, 0, 0, 2, 0, 0, 0}}, Fixed64, []uint64{1 | 2<<32}, true, false},
		{Field{Kind: Bytes, Content: []byte{1, 0, 0}}, Fixed32, nil, true, true},
		{Field{Kind: Fixed32, Number: 3}, Varint, nil, false, false},
	} {
		var got []uint64
		fits, err := c.f.Numbers(c.kind, func(v uint64) { got = append(got, v) })
		if fits != c.fits || (err != nil) != c.fail || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v %v %v", c.f, got, fits, err)
		}
	}
}
