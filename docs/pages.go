// Package docs holds the pages of the documentation that the program shows as topics of its help, so that both have the same text.
package docs

import _ "embed" // the pages

// Pages that explain a subject, in Markdown.
var (
	//go:embed verdict.md
	Verdict string
	//go:embed gates.md
	Gates string
	//go:embed explanation/loops.md
	Loops string
	//go:embed explanation/instants.md
	Instants string
)
