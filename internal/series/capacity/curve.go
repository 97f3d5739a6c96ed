package capacity

// Isotonic returns the non-decreasing series that is closest to y in weighted squares (pool adjacent violators; Barlow et al. 1972). It is used for
// drawing the shares of bad requests by increasing load.
func Isotonic(y, weights []float64) []float64 {
	type block struct {
		mean, weight float64
		n            int
	}
	var blocks []block
	for i, v := range y {
		blocks = append(blocks, block{v, max(weights[i], 1e-9), 1})
		for k := len(blocks) - 1; k > 0 && blocks[k-1].mean > blocks[k].mean; k-- {
			a, b := blocks[k-1], blocks[k]
			w := a.weight + b.weight
			blocks[k-1] = block{(a.mean*a.weight + b.mean*b.weight) / w, w, a.n + b.n}
			blocks = blocks[:k]
		}
	}
	out := make([]float64, 0, len(y))
	for _, b := range blocks {
		for range b.n {
			out = append(out, b.mean)
		}
	}
	return out
}
