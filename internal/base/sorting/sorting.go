// Package sorting sorts slices of structs. The generic functions of the standard library are compiled once more for every type of element, 20 KB each:
// with a hundred types they were 1 MB of the program. Here they are compiled once, for places in a slice.
package sorting

import "slices"

// Sort is slices.SortFunc: equal elements come in the same order as there.
func Sort[E any](list []E, compare func(a, b E) int) {
	move(list, places(len(list), slices.SortFunc[[]int], func(a, b int) int { return compare(list[a], list[b]) }))
}

// Stable is slices.SortStableFunc.
func Stable[E any](list []E, compare func(a, b E) int) {
	move(list, places(len(list), slices.SortStableFunc[[]int], func(a, b int) int { return compare(list[a], list[b]) }))
}

// places returns the places from which the elements of a sorted slice come.
func places(count int, sort func([]int, func(a, b int) int), compare func(a, b int) int) []int {
	from := make([]int, count)
	for i := range from {
		from[i] = i
	}
	sort(from, compare)
	return from
}

// move puts element from[i] at i, for every i, along the cycles of the permutation.
func move[E any](list []E, from []int) {
	for first := range from {
		moved := list[first]
		for to := first; from[to] != to; {
			next := from[to]
			from[to] = to
			if next == first {
				list[to] = moved
				break
			}
			list[to] = list[next]
			to = next
		}
	}
}
