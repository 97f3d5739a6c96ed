package sobol

import (
	"math"

	"aiperf/internal/base/rng"
)

// LatinHypercube returns n points in (0, 1]^dims, one in each of n slices of every axis (McKay, Beckman, Conover 1979). If optimize is set, it swaps
// random coordinates to lower the centred discrepancy. It stops after 10,000 tries, or after 100 tries in a row without success.
func LatinHypercube(dims, n int, seed uint64, optimize bool) [][]float64 {
	r := rng.NewNumpy(seed)
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, dims)
		for d := range points[i] {
			points[i][d] = r.Float64()
		}
	}
	order := make([]int, n)
	for d := range dims {
		for i := range order {
			order[i] = i + 1
		}
		r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i := range points {
			points[i][d] = (float64(order[i]) - points[i][d]) / float64(n)
		}
	}
	if optimize && dims > 1 && n > 1 {
		lowerDiscrepancy(points, r)
	}
	return points
}

func lowerDiscrepancy(points [][]float64, r *rng.Numpy) {
	const most, inVain = 10000, 100
	n, dims := len(points), len(points[0])
	best := discrepancy(points)
	for tries, idle := 0, 0; tries < most && idle < inVain; tries++ {
		col, a, b := r.Integers(0, dims), r.Integers(0, n), r.Integers(0, n)
		if now := afterSwap(points, a, b, col, best); now < best {
			points[a][col], points[b][col] = points[b][col], points[a][col]
			best, idle = now, 0
		} else {
			idle++
		}
	}
}

// discrepancy returns the squared centred discrepancy (Hickernell 1998).
func discrepancy(points [][]float64) float64 {
	n, dims := float64(len(points)), len(points[0])
	one, two := 0.0, 0.0
	for _, x := range points {
		prod := 1.0
		for _, v := range x {
			z := math.Abs(v - 0.5)
			prod *= 1 + 0.5*z - 0.5*z*z
		}
		one += prod
		for _, y := range points {
			prod := 1.0
			for d := range x {
				prod *= 1 + 0.5*math.Abs(x[d]-0.5) + 0.5*math.Abs(y[d]-0.5) - 0.5*math.Abs(x[d]-y[d])
			}
			two += prod
		}
	}
	return math.Pow(13.0/12, float64(dims)) - 2/n*one + 1/(n*n)*two
}

// afterSwap returns the discrepancy after swapping coordinate k of the points a and b (Jin, Chen, Sudjianto 2005, equations 19 to 26).
func afterSwap(points [][]float64, a, b, k int, now float64) float64 {
	n := float64(len(points))
	z := func(i, d int) float64 { return points[i][d] - 0.5 }
	abs := math.Abs
	pair := func(i, j, d int) float64 { return 2 + abs(z(i, d)) + abs(z(j, d)) - abs(z(i, d)-z(j, d)) }
	g := func(i int) (g, h float64) {
		g, h = 1, 1
		for d := range points[i] {
			g *= 1 + abs(z(i, d))
			h *= 1 + 0.5*abs(z(i, d)) - 0.5*(z(i, d)*z(i, d))
		}
		return g, h
	}
	sum := 0.0
	for j := range points {
		if j == a || j == b {
			continue
		}
		ca, cb := 1.0, 1.0
		for d := range points[j] {
			ca *= 0.5 * pair(a, j, d)
			cb *= 0.5 * pair(b, j, d)
		}
		ca, cb = 1/(n*n)*ca, 1/(n*n)*cb
		gamma := pair(b, j, k) / pair(a, j, k)
		sum += gamma*ca - ca + cb/gamma - cb
	}
	alpha := (1 + abs(z(b, k))) / (1 + abs(z(a, k)))
	beta := (2 - abs(z(b, k))) / (2 - abs(z(a, k)))
	ga, ha := g(a)
	gb, hb := g(b)
	wasA, wasB := 1/(n*n)*ga-2/n*ha, 1/(n*n)*gb-2/n*hb
	isA := ga*alpha/(n*n) - 2*alpha*beta*ha/n
	isB := gb/(n*n*alpha) - 2*hb/(n*alpha*beta)
	return now + isA - wasA + isB - wasB + 2*sum
}
