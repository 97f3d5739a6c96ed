package comparison

import (
	"fmt"
	"slices"
)

// otherObjectives says that the goodput of two runs counts requests by different objectives, so it is not the same figure; "" = it does not.
func (r *Result) otherObjectives() string {
	first := ""
	for _, run := range append(slices.Clone(r.A), r.B...) {
		switch {
		case run.Objectives == "" || run.Objectives == first:
		case first == "":
			first = run.Objectives
		default:
			return fmt.Sprintf("goodput is not judged: its objectives differ (%s and %s)", first, run.Objectives)
		}
	}
	return ""
}
