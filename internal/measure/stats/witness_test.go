package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// near tells whether two numbers agree to a relative tolerance.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b), 1e-300)
}

// TestDistributionsAgainstGonum: quantiles and shares agree with gonum's distributions to the last digits.
func TestDistributionsAgainstGonum(t *testing.T) {
	check := func(name string, got, want float64) {
		t.Helper()
		if !near(got, want, 1e-14) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, p := range []float64{0, 1e-9, .001, .025, .1, .3, .5, .7, .9, .975, .999, 1} {
		check("normal quantile", NormalQuantile(p), distuv.UnitNormal.Quantile(p))
		for _, df := range []float64{.5, 1, 2, 3.7, 10, 99, 1e6} {
			check("Student quantile", StudentQuantile(p, df), distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p))
			check("two-sided Student quantile", StudentT(p, df), distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1+p)/2))
		}
		for _, a := range []float64{.5, 1, 3, 40, 1000.5} {
			check("beta quantile", BetaQuantile(p, a, 7.5), distuv.Beta{Alpha: a, Beta: 7.5}.Quantile(p))
		}
	}
	for x := -9.0; x <= 9; x += .37 {
		check("normal share", NormalCDF(x), distuv.UnitNormal.CDF(x))
		check("normal density", NormalDensity(x), distuv.UnitNormal.Prob(x))
		check("Student share", StudentCDF(x, 4.5), distuv.StudentsT{Sigma: 1, Nu: 4.5}.CDF(x))
	}
	check("Student share of 0", StudentCDF(0, 3), .5)
}

// TestSolversAgainstGonum: systems of covariances and fits of polynomials are solved as gonum's LAPACK solves them.
func TestSolversAgainstGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 40; n++ {
		a, sym := make([][]float64, n), mat.NewSymDense(n, nil)
		at, b := make([]float64, n), make([]float64, n)
		for i := range n {
			at[i], b[i] = r.Float64(), r.NormFloat64()
			for j := range i + 1 {
				v := math.Exp(-10 * (at[i] - at[j]) * (at[i] - at[j]))
				if i == j {
					v += .01
				}
				a[i] = append(a[i], v)
				sym.SetSym(i, j, v)
			}
		}
		l, ok := NewCholesky(a)
		var chol mat.Cholesky
		if !ok || !chol.Factorize(sym) {
			t.Fatalf("%d: not positive definite", n)
		}
		want := mat.NewVecDense(n, nil)
		if err := chol.SolveVecTo(want, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		for i, x := range l.Solve(b) {
			if math.Abs(x-want.AtVec(i)) > 1e-9*(1+math.Abs(x)) {
				t.Errorf("%d equations, x%d: %v, want %v", n, i, x, want.AtVec(i))
			}
		}
		if !near(l.LogDet()+1e3, chol.LogDet()+1e3, 1e-13) {
			t.Errorf("%d: log det %v, want %v", n, l.LogDet(), chol.LogDet())
		}
		columns := 1 + n%3
		if n < columns {
			continue
		}
		rows, dense := make([][]float64, n), mat.NewDense(n, columns, nil)
		for i := range rows {
			for k := range columns {
				rows[i] = append(rows[i], math.Pow(at[i], float64(k)))
				dense.Set(i, k, rows[i][k])
			}
		}
		got, ok := LeastSquares(rows, b)
		var fit mat.VecDense
		if err := fit.SolveVec(dense, mat.NewVecDense(n, b)); err != nil || !ok {
			t.Fatalf("%d x %d: %v", n, columns, err)
		}
		for k, x := range got {
			if !near(x, fit.AtVec(k), 1e-9) {
				t.Errorf("%d points, coefficient %d of %d: %v, want %v", n, k, columns, x, fit.AtVec(k))
			}
		}
	}
}

// TestDependentColumns: a system without a unique solution is refused.
func TestDependentColumns(t *testing.T) {
	if _, ok := NewCholesky([][]float64{{1}, {1, 1}}); ok {
		t.Error("a singular matrix was factorised")
	}
	if _, ok := NewCholesky([][]float64{{math.NaN()}}); ok {
		t.Error("NaN was factorised")
	}
	for name, x := range map[string][]float64{"one place": {3, 3, 3, 3}, "two places": {1, .5, 1, .5}, "zeros": {0, 0, 0, 0}} {
		var a [][]float64
		for _, v := range x {
			a = append(a, []float64{v * v, v, 1})
		}
		if got, ok := LeastSquares(a, []float64{1, 2, 3, 4}); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}
