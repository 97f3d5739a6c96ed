package custom

// columnBlock is the number of values in a block of a column.
const columnBlock = 1 << 13

// column is a long list that grows without copying.
type column[T any] struct {
	blocks [][]T
	n      int
}

// len returns the number of values.
func (c *column[T]) len() int { return c.n }

// add appends a value.
func (c *column[T]) add(v T) {
	if c.n%columnBlock == 0 {
		c.blocks = append(c.blocks, make([]T, 0, columnBlock))
	}
	last := &c.blocks[len(c.blocks)-1]
	*last = append(*last, v)
	c.n++
}

// pad appends v until the column has n values.
func (c *column[T]) pad(n int, v T) {
	for c.n < n {
		c.add(v)
	}
}

// at returns value i. ok = the column is that long.
func (c *column[T]) at(i int) (v T, ok bool) {
	if i >= c.n {
		return v, false
	}
	return c.blocks[i/columnBlock][i%columnBlock], true
}

// ref returns a pointer to value i, which must exist.
func (c *column[T]) ref(i int) *T { return &c.blocks[i/columnBlock][i%columnBlock] }

// set writes value i. Missing values before it become none.
func (c *column[T]) set(i int, v, none T) {
	c.pad(i, none)
	if i == c.n {
		c.add(v)
		return
	}
	c.blocks[i/columnBlock][i%columnBlock] = v
}
