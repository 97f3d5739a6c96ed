package jsontext

import (
	"bytes"
	"math"
	"strconv"
)

// AppendFloat writes a float as Python's repr and json.dumps do: the shortest digits that read back. It uses an exponent outside 1e-4 … 1e16 (1e-05,
// 1e+16), otherwise always a decimal point. Infinite values and NaN become "inf", "-inf" and "nan", which are not JSON: the caller must exclude them.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return appendPlain(dst, f)
}

// appendPlain writes a float with a decimal point and without an exponent.
func appendPlain(dst []byte, f float64) []byte {
	if x := f * 1e6; math.Abs(x) < 1e15 {
		if n := int64(x + math.Copysign(.5, x)); n != 0 && float64(n)/1e6 == f {
			return appendMillionths(dst, n)
		}
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendMillionths writes n / 1e6, which is how most figures of a record arise: nanoseconds in ms. Up to fifteen digits are the shortest that read back,
// because no other decimal of at most fifteen is read as the same float. This takes half the time of the general search.
func appendMillionths(dst []byte, n int64) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = append(strconv.AppendInt(dst, n/1e6, 10), '.')
	r := uint32(n % 1e6)
	dst = append(dst, byte('0'+r/1e5), byte('0'+r/1e4%10), byte('0'+r/1e3%10), byte('0'+r/100%10), byte('0'+r/10%10), byte('0'+r%10))
	least := len(dst) - 5
	for len(dst) > least && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendNumber writes a number of a document as orjson does, which encodes the bodies of the Python tool. Integers keep their spelling. Floats get
// the shortest digits, plain between 1e-5 and 1e16, otherwise with a minimal exponent (1e-7, 1e16).
func appendNumber(dst, raw []byte) []byte {
	if !bytes.ContainsAny(raw, ".eE") {
		if string(raw) == "-0" {
			return append(dst, '0')
		}
		return append(dst, raw...)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return append(dst, raw...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		from := len(dst)
		return trimExponent(strconv.AppendFloat(dst, f, 'e', -1, 64), from)
	}
	return appendPlain(dst, f)
}

// trimExponent shortens the exponents e-07 and e+16 after the offset from to e-7 and e16.
func trimExponent(dst []byte, from int) []byte {
	for i := from; i < len(dst); i++ {
		if dst[i] != 'e' {
			continue
		}
		exp := dst[i+2:]
		out := dst[:i+1]
		if dst[i+1] == '-' {
			out = append(out, '-')
		}
		for len(exp) > 1 && exp[0] == '0' {
			exp = exp[1:]
		}
		return append(out, exp...)
	}
	return dst
}
