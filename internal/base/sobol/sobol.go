// Package sobol generates points that fill the unit cube evenly: scrambled Sobol sequences and Latin hypercubes. For the same seed, they equal those
// of SciPy's stats.qmc.
package sobol

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/rng"
)

// MaxDims is the maximum number of dimensions of a Sobol sequence.
const MaxDims = 256

// sobolBits is the number of binary digits of a coordinate.
const sobolBits = 30

// directions are the primitive polynomials and initial direction numbers of the first MaxDims dimensions, a line each, as published by
// S. Joe and F. Y. Kuo (new-joe-kuo-6.21201): "Constructing Sobol sequences with better two-dimensional projections", 2008.
//
//go:embed directions.txt
var directions string

type direction struct {
	poly  uint32
	first []uint32
}

var table = sync.OnceValue(func() []direction {
	var list []direction
	for line := range strings.Lines(directions) {
		var d direction
		for i, word := range strings.Fields(line) {
			v, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				panic("qmc: " + err.Error()) // the table is part of the program
			}
			if i == 0 {
				d.poly = uint32(v)
			} else {
				d.first = append(d.first, uint32(v))
			}
		}
		list = append(list, d)
	}
	return list
})

// Sobol returns n points of a Sobol sequence in [0, 1)^dims. scramble applies a left linear matrix scramble and a digital shift drawn from the seed
// (Matousek 1998). Without scrambling, the first point is the origin.
func Sobol(dims, n int, seed uint64, scramble bool) ([][]float64, error) {
	if dims < 1 || dims > MaxDims {
		return nil, fmt.Errorf("a Sobol sequence of %d dimensions; 1 to %d are possible", dims, MaxDims)
	}
	v := make([][sobolBits]uint32, dims)
	for d := range v {
		v[d] = directionNumbers(d)
	}
	shift := make([]uint32, dims)
	if scramble {
		scrambled(v, shift, rng.NewNumpy(seed))
	}
	points := make([][]float64, n)
	state := shift
	for i := range points {
		if i > 0 {
			bit := lowestZero(uint32(i - 1))
			for d := range state {
				state[d] ^= v[d][bit]
			}
		}
		points[i] = make([]float64, dims)
		for d := range state {
			points[i][d] = float64(state[d]) * (1.0 / (1 << sobolBits))
		}
	}
	return points, nil
}

// lowestZero returns the index of the lowest binary digit that is 0.
func lowestZero(i uint32) (bit int) {
	for ; i&1 == 1; i >>= 1 {
		bit++
	}
	return bit
}

// directionNumbers returns the columns of the generator matrix of one dimension, as integers of sobolBits digits.
func directionNumbers(dim int) (v [sobolBits]uint32) {
	d := table()[dim]
	degree := 0
	for p := d.poly; p > 1; p >>= 1 {
		degree++
	}
	for j := range v {
		switch {
		case dim == 0:
			v[j] = 1
		case j < degree:
			v[j] = d.first[j]
		default:
			next := v[j-degree]
			for k := range degree {
				if d.poly>>(degree-1-k)&1 == 1 {
					next ^= v[j-k-1] << (k + 1)
				}
			}
			v[j] = next
		}
	}
	for j := range v {
		v[j] <<= sobolBits - 1 - j
	}
	return v
}

// scrambled draws a shift and a random lower triangular matrix for every dimension, and multiplies the columns by the matrix.
func scrambled(v [][sobolBits]uint32, shift []uint32, r *rng.Numpy) {
	for d := range shift {
		for b := range sobolBits {
			shift[d] |= uint32(r.Integers(0, 2)) << b
		}
	}
	for d := range v {
		var rows [sobolBits]uint32 // rows of the matrix; the highest digit is the first column
		for p := range rows {
			for k := range sobolBits {
				if bit := uint32(r.Integers(0, 2)); k < p && bit == 1 || k == p {
					rows[p] |= 1 << (sobolBits - 1 - k)
				}
			}
		}
		for j := range v[d] {
			var out uint32
			for p, row := range rows {
				if parity(row&v[d][j]) == 1 {
					out |= 1 << (sobolBits - 1 - p)
				}
			}
			v[d][j] = out
		}
	}
}

func parity(x uint32) uint32 {
	x ^= x >> 16
	x ^= x >> 8
	x ^= x >> 4
	return 0x6996 >> (x & 15) & 1
}
