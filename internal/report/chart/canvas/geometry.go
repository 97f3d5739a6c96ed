package canvas

// Point is a position.
type Point struct{ X, Y float64 }

// Add returns the sum of two points.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Rectangle is the area between two corners.
type Rectangle struct{ Min, Max Point }

// Path is a list of shapes that are drawn together.
type Path []Shape

// Shape is a line through points, or a circle around its only point if Radius is not zero.
type Shape struct {
	Points []Point
	Radius float64
}

// edge is one side of a rectangle: a limit for X, or for Y.
type edge struct {
	upper, vertical bool
	limit           float64
}

// tolerance is how far outside a point may be, because of rounding.
const tolerance = 3e-8

func (e edge) of(p Point) float64 {
	if e.vertical {
		return p.Y
	}
	return p.X
}

func (e edge) inside(p Point) bool {
	if e.upper {
		return e.of(p) <= e.limit+tolerance
	}
	return e.of(p) >= e.limit-tolerance
}

// crossing returns the point at which the line from p to q crosses the edge.
func (e edge) crossing(p, q Point) Point {
	t := (e.of(p) - e.limit) / (e.of(p) - e.of(q))
	return Point{(q.X-p.X)*t + p.X, (q.Y-p.Y)*t + p.Y}
}

// edges returns the four sides.
func (r Rectangle) edges() [4]edge {
	return [4]edge{{upper: true, limit: r.Max.X}, {limit: r.Min.X}, {vertical: true, limit: r.Min.Y}, {upper: true, vertical: true, limit: r.Max.Y}}
}

// ClipLine returns the parts of a line that are in the rectangle.
func (r Rectangle) ClipLine(line []Point) [][]Point {
	parts := [][]Point{line}
	for _, e := range r.edges() {
		var cut [][]Point
		for _, part := range parts {
			cut = append(cut, e.clipLine(part)...)
		}
		parts = cut
	}
	return parts
}

func (e edge) clipLine(line []Point) (parts [][]Point) {
	var part []Point
	for i := 1; i < len(line); i++ {
		p, q := line[i-1], line[i]
		in, out := e.inside(p), !e.inside(q)
		switch {
		case in && !out:
			part = append(part, p)
		case in:
			parts = append(parts, append(part, p, e.crossing(p, q)))
			part = nil
		case !out:
			part = append(part, e.crossing(p, q))
		}
		if !out && i == len(line)-1 {
			part = append(part, q)
		}
	}
	if len(part) > 1 {
		parts = append(parts, part)
	}
	return parts
}

// ClipPolygon returns the part of a polygon that is in the rectangle.
func (r Rectangle) ClipPolygon(corners []Point) []Point {
	for _, e := range r.edges() {
		var cut []Point
		for i, p := range corners {
			q := corners[(i+1)%len(corners)]
			in := e.inside(p)
			if in {
				cut = append(cut, p)
			}
			if in != e.inside(q) {
				cut = append(cut, e.crossing(p, q))
			}
		}
		corners = cut
	}
	return corners
}
