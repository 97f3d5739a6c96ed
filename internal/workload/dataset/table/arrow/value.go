package arrow

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"time"
)

// viewSize is the size of a view. A view is the length of a text, then a text of at most twelve bytes. A longer text has its first four bytes, the
// number of a buffer and the offset in it instead.
const (
	viewSize   = 16
	viewInline = 12
)

// value returns a value of a column: nil, bool, int64, float64, string, []any or map[string]any.
func (c *column) value(i int) (any, error) {
	if c.null(i) {
		return nil, nil
	}
	if c.lookup != nil {
		return c.lookup.value(c.number(i))
	}
	switch c.kind {
	case kindNull:
		return nil, nil
	case kindStruct:
		out := make(map[string]any, len(c.children))
		for k, child := range c.children {
			v, err := child.value(i)
			if err != nil {
				return nil, err
			}
			out[c.field.children[k].name] = v
		}
		return out, nil
	case kindList, kindLargeList, kindMap, kindFixedList, kindListView, kindLargeListView:
		return c.list(i)
	case kindBinary, kindText, kindLargeBinary, kindLargeText:
		from, to, err := c.span(i, len(c.data))
		return string(c.data[from:to]), err
	case kindBinaryView, kindTextView:
		return c.view(i)
	case kindFixedBinary:
		return string(c.cell(i)), nil
	case kindBool:
		return bit(c.data, i), nil
	case kindInt:
		return c.whole(i), nil
	case kindFloat:
		return c.float(i), nil
	}
	return c.written(i), nil
}

// value returns a value of a dictionary.
func (d *dictionary) value(i int64) (any, error) {
	at := i
	for _, part := range d.parts {
		if at >= 0 && at < int64(part.rows) {
			return part.value(int(at))
		}
		at -= int64(part.rows)
	}
	return nil, damaged("the index %d lies outside of its dictionary", i)
}

// null reports whether a value is null.
func (c *column) null(i int) bool { return c.valid != nil && !bit(c.valid, i) }

func bit(bits []byte, i int) bool { return bits[i/8]>>(i%8)&1 == 1 }

// cell returns the bytes of a fixed-width value.
func (c *column) cell(i int) []byte {
	n := c.width / 8
	return c.data[i*n : (i+1)*n]
}

// number returns a fixed-width value as a signed integer. Widths above 64 bits are decimals, which it does not support.
func (c *column) number(i int) int64 {
	b := c.cell(i)
	switch {
	case len(b) == 1 && !c.signed && c.kind == kindInt:
		return int64(b[0])
	case len(b) == 1:
		return int64(int8(b[0]))
	case len(b) == 2 && !c.signed && c.kind == kindInt:
		return int64(binary.LittleEndian.Uint16(b))
	case len(b) == 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case len(b) == 4 && !c.signed && c.kind == kindInt:
		return int64(binary.LittleEndian.Uint32(b))
	case len(b) == 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// whole returns an integer: int64, or float64 for values that are too large.
func (c *column) whole(i int) any {
	n := c.number(i)
	if n < 0 && !c.signed {
		return float64(uint64(n))
	}
	return n
}

func (c *column) float(i int) float64 {
	b := c.cell(i)
	switch len(b) {
	case 2:
		return half(binary.LittleEndian.Uint16(b))
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// half converts an IEEE 754 binary16 number.
func half(b uint16) float64 {
	sign, exponent, fraction := float64(1), int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(fraction+1024, exponent-25)
}

// span returns the range of a text or list in its data, which has room values.
func (c *column) span(i, room int) (from, to int, err error) {
	var a, b int64
	switch c.kind {
	case kindFixedList:
		a, b = int64(i*c.size), int64((i+1)*c.size)
	case kindListView:
		a = int64(int32(binary.LittleEndian.Uint32(c.offsets[4*i:])))
		b = a + int64(int32(binary.LittleEndian.Uint32(c.sizes[4*i:])))
	case kindLargeListView:
		a = int64(binary.LittleEndian.Uint64(c.offsets[8*i:]))
		b = a + int64(binary.LittleEndian.Uint64(c.sizes[8*i:]))
	case kindLargeBinary, kindLargeText, kindLargeList:
		a, b = int64(binary.LittleEndian.Uint64(c.offsets[8*i:])), int64(binary.LittleEndian.Uint64(c.offsets[8*i+8:]))
	default:
		a, b = int64(int32(binary.LittleEndian.Uint32(c.offsets[4*i:]))), int64(int32(binary.LittleEndian.Uint32(c.offsets[4*i+4:])))
	}
	if a < 0 || b < a || b > int64(room) {
		return 0, 0, damaged("a value from %d to %d of %d", a, b, room)
	}
	return int(a), int(b), nil
}

func (c *column) list(i int) (any, error) {
	values := c.children[0]
	from, to, err := c.span(i, values.rows)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, to-from)
	for k := from; k < to; k++ {
		v, err := values.value(k)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// view returns a text that is in its view, or in the buffer that the view names.
func (c *column) view(i int) (any, error) {
	b := c.data[viewSize*i : viewSize*(i+1)]
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	if n >= 0 && n <= viewInline {
		return string(b[4 : 4+n]), nil
	}
	piece, from := int64(int32(binary.LittleEndian.Uint32(b[8:]))), int64(int32(binary.LittleEndian.Uint32(b[12:])))
	if n < 0 || piece < 0 || piece >= int64(len(c.pieces)) || from < 0 || from+n > int64(len(c.pieces[piece])) {
		return nil, damaged("a text of %d bytes at %d of the piece %d of %d", n, from, piece, len(c.pieces))
	}
	return string(c.pieces[piece][from : from+n]), nil
}

// unitNames are the names of time units by number.
var unitNames = [...]string{"s", "ms", "us", "ns"}

// written returns times, dates and decimals as text, because JSON has no types for them.
func (c *column) written(i int) string {
	const day, date, clock = 24 * 60 * 60 * 1000, "2006-01-02", "15:04:05"
	if c.kind == kindDecimal {
		return decimal(c.cell(i), c.scale, c.precision)
	}
	n := c.number(i)
	switch c.kind {
	case kindDuration:
		return strconv.FormatInt(n, 10) + unitNames[c.unit]
	case kindDate:
		if c.unit == 1 {
			n /= day
		}
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(n)).Format(date)
	case kindTime:
		return instant(n, c.unit).Format(clock + [...]string{"", ".000", ".000000", ".000000000"}[c.unit])
	}
	at := instant(n, c.unit)
	layout := date + "T" + clock + ".999999999"
	if c.zone != nil {
		at = at.In(c.zone)
		layout = time.RFC3339Nano
		if _, offset := at.Zone(); offset%60 != 0 {
			layout = date + "T" + clock + ".999999999Z07:00:00"
		}
	}
	if at.Year() < 0 || at.Year() > 9999 {
		return strconv.FormatInt(n, 10)
	}
	return at.Format(layout)
}

// instant returns the time n units after the start of 1970.
func instant(n int64, unit int16) time.Time {
	switch unit {
	case 0:
		return time.Unix(n, 0).UTC()
	case 1:
		return time.UnixMilli(n).UTC()
	case 2:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// decimal formats an integer in two's complement, low byte first, with scale digits after the point.
func decimal(b []byte, scale, precision int) string {
	n := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		n.Lsh(n, 8).Or(n, big.NewInt(int64(b[i])))
	}
	if b[len(b)-1]>>7 == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	power := new(big.Float).SetPrec(512).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	f := new(big.Float).SetPrec(512).SetInt(n)
	if scale < 0 {
		f.Mul(f, power)
	} else {
		f.Quo(f, power)
	}
	return f.Text('g', precision)
}
