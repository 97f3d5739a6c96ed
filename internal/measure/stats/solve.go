package stats

import "math"

// Cholesky is the factor L of a symmetric positive definite matrix A = L Lᵀ: the lower triangle, row by row.
type Cholesky [][]float64

// NewCholesky factorises a matrix (Golub and Van Loan, 4.2). It reads only the lower triangle. ok is false if the matrix is not positive definite.
func NewCholesky(a [][]float64) (l Cholesky, ok bool) {
	l = make(Cholesky, len(a))
	for i := range a {
		l[i] = make([]float64, i+1)
		for j := range i {
			l[i][j] = (a[i][j] - dot(l[i][:j], l[j][:j])) / l[j][j]
		}
		square := a[i][i] - dot(l[i][:i], l[i][:i])
		if !(square > 0) {
			return nil, false
		}
		l[i][i] = math.Sqrt(square)
	}
	return l, true
}

// Solve returns the solution x of A x = b.
func (l Cholesky) Solve(b []float64) []float64 {
	x := make([]float64, len(b))
	for i := range b {
		x[i] = (b[i] - dot(l[i][:i], x[:i])) / l[i][i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

// LogDet returns the logarithm of the determinant of A.
func (l Cholesky) LogDet() float64 {
	sum := 0.0
	for i := range l {
		sum += math.Log(l[i][i])
	}
	return 2 * sum
}

// Dot returns the inner product of two vectors of equal length.
func Dot(a, b []float64) float64 { return dot(a, b) }

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// minRank is the minimum share of a column that must be independent of the previous columns.
const minRank = 1e-14

// LeastSquares returns the x that minimises |A x - y|, by Householder reflections (Golub and Van Loan, 5.3.2). A must have at least as many rows as
// columns. ok is false if its columns are linearly dependent.
func LeastSquares(a [][]float64, y []float64) (x []float64, ok bool) {
	rows, columns := len(a), len(a[0])
	r := make([][]float64, rows)
	for i := range a {
		r[i] = append(append(make([]float64, 0, columns+1), a[i]...), y[i])
	}
	x = make([]float64, columns)
	for k := range columns {
		whole, below := 0.0, 0.0
		for i := range rows {
			whole = math.Hypot(whole, r[i][k])
			if i >= k {
				below = math.Hypot(below, r[i][k])
			}
		}
		if !(below > minRank*whole) {
			return nil, false
		}
		reflect(r, k, below)
	}
	for k := columns - 1; k >= 0; k-- {
		x[k] = r[k][columns]
		for j := k + 1; j < columns; j++ {
			x[k] -= r[k][j] * x[j]
		}
		x[k] /= r[k][k]
	}
	return x, true
}

// reflect makes column k of r zero below row k. length is the norm of that column from row k on.
func reflect(r [][]float64, k int, length float64) {
	v := make([]float64, len(r)-k)
	for i := range v {
		v[i] = r[k+i][k]
	}
	v[0] += math.Copysign(length, v[0])
	square := dot(v, v)
	for j := k; j < len(r[k]); j++ {
		sum := 0.0
		for i := range v {
			sum += v[i] * r[k+i][j]
		}
		for i := range v {
			r[k+i][j] -= 2 * sum / square * v[i]
		}
	}
}
