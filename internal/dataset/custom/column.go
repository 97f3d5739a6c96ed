package custom

// columnBlock is how many values of a column lie together.
const columnBlock = 1 << 13

// column is a long list that grows without being copied.
type column[T any] struct {
	blocks [][]T
	n      int
}

// add appends a value.
func (c *column[T]) add(v T) {
	if c.n%columnBlock == 0 {
		c.blocks = append(c.blocks, make([]T, 0, columnBlock))
	}
	last := &c.blocks[len(c.blocks)-1]
	*last = append(*last, v)
	c.n++
}

// pad appends a value until there are n.
func (c *column[T]) pad(n int, v T) {
	for c.n < n {
		c.add(v)
	}
}

// at is value i; ok = the column is that long.
func (c *column[T]) at(i int) (v T, ok bool) {
	if i >= c.n {
		return v, false
	}
	return c.blocks[i/columnBlock][i%columnBlock], true
}

// ref is value i, which is there, to be read or changed.
func (c *column[T]) ref(i int) *T { return &c.blocks[i/columnBlock][i%columnBlock] }

// set writes value i; values before it that are not there become none.
func (c *column[T]) set(i int, v, none T) {
	c.pad(i, none)
	if i == c.n {
		c.add(v)
		return
	}
	c.blocks[i/columnBlock][i%columnBlock] = v
}
