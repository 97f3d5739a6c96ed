package rowstore

// columnBlock is the number of values in a block of a Column.
const columnBlock = 1 << 13

// Column is a long list that grows without copying.
type Column[T any] struct {
	blocks [][]T
	n      int
}

// Len returns the number of values.
func (c *Column[T]) Len() int { return c.n }

// Add appends a value.
func (c *Column[T]) Add(v T) {
	if c.n%columnBlock == 0 {
		c.blocks = append(c.blocks, make([]T, 0, columnBlock))
	}
	last := &c.blocks[len(c.blocks)-1]
	*last = append(*last, v)
	c.n++
}

// pad appends v until the column has n values.
func (c *Column[T]) pad(n int, v T) {
	for c.n < n {
		c.Add(v)
	}
}

// At returns value i. ok = the column is that long.
func (c *Column[T]) At(i int) (v T, ok bool) {
	if i >= c.n {
		return v, false
	}
	return c.blocks[i/columnBlock][i%columnBlock], true
}

// Ref returns a pointer to value i, which must exist.
func (c *Column[T]) Ref(i int) *T { return &c.blocks[i/columnBlock][i%columnBlock] }

// Set writes value i. Missing values before it become none.
func (c *Column[T]) Set(i int, v, none T) {
	c.pad(i, none)
	if i == c.n {
		c.Add(v)
		return
	}
	c.blocks[i/columnBlock][i%columnBlock] = v
}
