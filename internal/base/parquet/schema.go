package parquet

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
)

// maxScale is the maximum number of decimals of a decimal number.
const maxScale = 1000

// node is a column of the schema, or a group of columns.
type node struct {
	element
	children []*node
	leaves   []*cursor // of the node and of all nodes below it
	// Levels at which the node itself is present, its own repetition included.
	maxDefinition, maxRepetition int
}

// newTree builds the tree of columns from the flat list.
func newTree(list []element) (root *node, err error) {
	if len(list) == 0 {
		return nil, corrupt("no schema")
	}
	list[0].repetition = required
	root, rest, err := grow(list, 0, 0, 0)
	if err == nil && len(rest) > 0 {
		err = corrupt("%d columns more than the schema has places for", len(rest))
	}
	return root, err
}

// grow takes a node and the nodes below it from the front of a list.
func grow(list []element, depth, definition, repetition int) (n *node, rest []element, err error) {
	if len(list) == 0 {
		return nil, nil, corrupt("a schema that ends early")
	}
	n = &node{element: list[0]}
	if depth > maxNesting {
		return nil, nil, corrupt("column %s is nested deeper than %d", n.name, maxNesting)
	}
	switch n.repetition {
	case required:
	case optional:
		definition++
	case repeated:
		definition++
		repetition++
	default:
		return nil, nil, corrupt("column %s has the repetition %d", n.name, n.repetition)
	}
	n.maxDefinition, n.maxRepetition = definition, repetition
	rest = list[1:]
	if n.physical >= 0 {
		return n, rest, n.leaf()
	}
	for range n.element.children {
		var child *node
		if child, rest, err = grow(rest, depth+1, definition, repetition); err != nil {
			return nil, nil, err
		}
		n.children = append(n.children, child)
		n.leaves = append(n.leaves, child.leaves...)
	}
	return n, rest, nil
}

// leaf completes a column.
func (n *node) leaf() error {
	switch {
	case n.physical > typeFixed:
		return corrupt("column %s has the type %d", n.name, n.physical)
	case n.element.children > 0:
		return corrupt("column %s has both a type and columns below it", n.name)
	case n.physical == typeFixed && n.length < 0:
		return corrupt("column %s has values of %d bytes", n.name, n.length)
	case n.decimal() && (n.scale < 0 || n.scale > maxScale):
		return corrupt("column %s has %d decimals", n.name, n.scale)
	}
	if n.converted >= convertedUint8 && n.converted <= convertedUint64 && n.logical < 0 {
		n.unsigned = true
	}
	n.leaves = []*cursor{{leaf: n}}
	return nil
}

func (n *node) is(logical, converted int) bool {
	return n.logical == logical || n.logical < 0 && n.converted == converted
}

func (n *node) decimal() bool { return n.decimalScaled && n.is(logicalDecimal, convertedDecimal) }

// width is the number of bytes of a value of fixed length.
func (n *node) width() int { return [...]int{1, 4, 8, 12, 4, 8, 0, n.length}[n.physical] }

// integer returns a stored whole number as a value.
func (n *node) integer(v int64) any {
	switch {
	case n.logical == logicalNull:
		return nil
	case n.physical == typeInt32 && n.unsigned:
		return int64(uint32(v))
	case n.physical == typeInt32:
		v = int64(int32(v))
	}
	switch {
	case n.decimal():
		return decimal(v, n.scale)
	case n.unsigned && v < 0: // above 2^63; JSON tables have such numbers as floats too
		return float64(uint64(v))
	}
	return v
}

// Days of INT96 are Julian.
const (
	julianEpoch    = 2440588
	nanosecondsDay = 86400e9
)

// fixed returns stored bytes of the column's width as a value.
func (n *node) fixed(b []byte) (any, error) {
	switch n.physical {
	case typeInt32:
		return n.integer(int64(int32(binary.LittleEndian.Uint32(b)))), nil
	case typeInt64:
		return n.integer(int64(binary.LittleEndian.Uint64(b))), nil
	case typeInt96:
		return (int64(int32(binary.LittleEndian.Uint32(b[8:])))-julianEpoch)*nanosecondsDay + int64(binary.LittleEndian.Uint64(b)), nil
	case typeFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
	case typeDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	return n.bytes(b)
}

// bytes returns a stored text as a value.
func (n *node) bytes(b []byte) (any, error) {
	switch {
	case n.logical == logicalNull:
		return nil, nil //nolint:nilnil // the value is null
	case n.decimal():
		return bigDecimal(b, n.scale), nil
	case n.logical == logicalFloat16 && len(b) == 2:
		return float16(binary.LittleEndian.Uint16(b)), nil
	case n.physical == typeText && n.is(logicalJSON, convertedJSON):
		var v any
		err := json.Unmarshal(b, &v)
		return v, err
	}
	return string(b), nil
}

// float16 converts an IEEE 754 binary16 number.
func float16(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		return sign * math.Inf(1)
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(fraction+1024, exponent-25)
}

// Whole numbers up to exactInteger and powers of ten up to exactPower are exact as floats, so a quotient of both is rounded once.
const (
	exactInteger = 1 << 53
	exactPower   = 22
)

// decimal returns the float nearest to a number divided by a power of ten.
func decimal(v int64, scale int) float64 {
	if -exactInteger <= v && v <= exactInteger && scale <= exactPower {
		return float64(v) / math.Pow10(scale)
	}
	return quotient(big.NewInt(v), scale)
}

// bigDecimal returns the float nearest to a number in two's complement, big end first, divided by a power of ten.
func bigDecimal(b []byte, scale int) float64 {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if v.IsInt64() {
		return decimal(v.Int64(), scale)
	}
	return quotient(v, scale)
}

func quotient(v *big.Int, scale int) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	f, _ := new(big.Rat).SetFrac(v, power).Float64()
	return f
}

// levelBits is the number of bits of a level.
func levelBits(most int) int { return bits.Len(uint(most)) }
