package mathtext

import "strings"

// environments are the environments that hold a matrix.
var environments = map[string]bool{"matrix": true, "pmatrix": true, "bmatrix": true, "vmatrix": true, "array": true, "smallmatrix": true}

// environment parses a matrix, after \begin. A matrix between bars is its determinant.
func (p *latex) environment() (*Node, error) {
	name, err := p.word()
	if err != nil || !environments[name] {
		return nil, failure(err)
	}
	if name == "array" && p.is("{") { // alignment of the columns
		if _, err := p.word(); err != nil {
			return nil, err
		}
	}
	m := &Node{Kind: Matrix}
	for width := 1; ; width++ {
		n, err := p.sum()
		if err != nil || !n.scalar() {
			return nil, failure(err)
		}
		m.Args = append(m.Args, n)
		if p.take("&") {
			continue
		}
		if m.Cols != 0 && width != m.Cols {
			return nil, errSyntax
		}
		m.Cols, width = width, 0
		if p.take(`\\`) && !p.is(`\end`) {
			continue
		}
		break
	}
	if err := p.expect(`\end`); err != nil {
		return nil, err
	}
	if end, err := p.word(); err != nil || end != name {
		return nil, failure(err)
	}
	if name == "vmatrix" {
		return determinant(m)
	}
	return m, nil
}

// word parses the text in braces.
func (p *latex) word() (string, error) {
	if err := p.expect("{"); err != nil {
		return "", err
	}
	var text strings.Builder
	for !p.take("}") {
		t := p.peek()
		if t.kind == "" || t.kind == "{" {
			return "", errSyntax
		}
		text.WriteString(t.text)
		p.at++
	}
	return text.String(), nil
}

// rows returns the number of rows of a matrix.
func (n *Node) rows() int { return len(n.Args) / n.Cols }

func transposed(m *Node) *Node {
	t := &Node{Kind: Matrix, Cols: m.rows()}
	for c := range m.Cols {
		for r := range m.rows() {
			t.Args = append(t.Args, m.Args[r*m.Cols+c])
		}
	}
	return t
}

// largestDeterminant is the maximum size of determinants that are expanded.
const largestDeterminant = 4

// determinant expands the determinant along the first row.
func determinant(m *Node) (*Node, error) {
	size := m.Cols
	if m.rows() != size || size > largestDeterminant {
		return nil, errSyntax
	}
	if size == 1 {
		return m.Args[0], nil
	}
	sum := make([]*Node, 0, size)
	for c := range size {
		minor := &Node{Kind: Matrix, Cols: size - 1}
		for i := size; i < len(m.Args); i++ {
			if i%size != c {
				minor.Args = append(minor.Args, m.Args[i])
			}
		}
		d, err := determinant(minor)
		if err != nil {
			return nil, err
		}
		term := mul(m.Args[c], d)
		if c%2 == 1 {
			term = negative(term)
		}
		sum = append(sum, term)
	}
	return add(sum...), nil
}

// matrix computes sums and products of matrices; nil = n is not a matrix.
func (n *Node) matrix() *Node {
	switch n.Kind {
	case Matrix:
		return n
	case Add, Mul:
	default:
		return nil
	}
	var out, scale *Node
	for _, a := range n.Args {
		m := a.matrix()
		switch {
		case m == nil && n.Kind == Add:
			return nil
		case m == nil && scale == nil:
			scale = a
		case m == nil:
			scale = mul(scale, a)
		case out == nil:
			out = m
		case n.Kind == Add:
			if out = sumOf(out, m); out == nil {
				return nil
			}
		default:
			if out = productOf(out, m); out == nil {
				return nil
			}
		}
	}
	if out != nil && scale != nil {
		scaled := &Node{Kind: Matrix, Cols: out.Cols}
		for _, a := range out.Args {
			scaled.Args = append(scaled.Args, mul(scale, a))
		}
		return scaled
	}
	return out
}

func sumOf(a, b *Node) *Node {
	if a.Cols != b.Cols || len(a.Args) != len(b.Args) {
		return nil
	}
	sum := &Node{Kind: Matrix, Cols: a.Cols}
	for i := range a.Args {
		sum.Args = append(sum.Args, add(a.Args[i], b.Args[i]))
	}
	return sum
}

func productOf(a, b *Node) *Node {
	if a.Cols != b.rows() {
		return nil
	}
	product := &Node{Kind: Matrix, Cols: b.Cols}
	for r := range a.rows() {
		for c := range b.Cols {
			terms := make([]*Node, a.Cols)
			for k := range a.Cols {
				terms[k] = mul(a.Args[r*a.Cols+k], b.Args[k*b.Cols+c])
			}
			product.Args = append(product.Args, add(terms...))
		}
	}
	return product
}
