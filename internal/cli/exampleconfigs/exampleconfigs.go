// Package exampleconfigs contains the example files of aiperf config init. The comments at the top of a file describe it.
package exampleconfigs

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/sorting"
	"aiperf/internal/base/suggest"
)

//go:embed files/*.yaml
var files embed.FS

// Template is one example of a configuration file.
type Template struct {
	Name, Title, Description, Category, Tags, Difficulty, Features string
	Text                                                           string
}

// categories lists the categories in display order.
var categories = []string{
	"Getting Started", "Load Testing", "Datasets", "Sweep & Multi-Run", "Advanced", "Multimodal", "Specialized Endpoints",
}

// All returns the templates sorted by category and name; Getting Started begins with the shortest.
func All() []Template {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	var all []Template
	for _, e := range entries {
		text, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, read(strings.TrimSuffix(e.Name(), ".yaml"), string(text)))
	}
	sorting.Stable(all, func(a, b Template) int {
		return slices.Index(categories, a.Category) - slices.Index(categories, b.Category)
	})
	return all
}

// read parses the comments at the top of a template.
func read(name, text string) Template {
	t := Template{Name: name, Text: text}
	for key, field := range map[string]*string{
		"title": &t.Title, "description": &t.Description, "category": &t.Category, "tags": &t.Tags, "difficulty": &t.Difficulty, "features": &t.Features,
	} {
		if _, rest, ok := strings.Cut(text, "\n# "+key+": "); ok {
			*field, _, _ = strings.Cut(rest, "\n")
		}
	}
	return t
}

// Find returns a template by its name.
func Find(name string) (Template, error) {
	var names []string
	for _, t := range All() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	hint := ""
	if near := suggest.Name(name, names); near != "" {
		hint = "did you mean " + near + "? "
	}
	return Template{}, fmt.Errorf("there is no template %q; %stemplates: %s", name, hint, strings.Join(names, ", "))
}

// Matches reports whether the description of the template contains a text.
func (t *Template) Matches(text string) bool {
	all := strings.ToLower(strings.Join([]string{t.Name, t.Title, t.Description, t.Category, t.Tags, t.Features}, "\n"))
	return strings.Contains(all, strings.ToLower(text))
}

var (
	modelLine = lazyregexp.New(`(?m)^( *model: ).*$`)
	urlLine   = lazyregexp.New(`(?m)^( *)urls?: .*$`)
)

// With returns the text with another model and another server; an empty argument keeps the value of the template.
func (t *Template) With(model, url string) string {
	text := t.Text
	if model != "" {
		text = modelLine.ReplaceAllString(text, "${1}"+strings.ReplaceAll(quote(model), "$", "$$"))
	}
	if url != "" {
		first := true
		text = urlLine.ReplaceAllStringFunc(text, func(line string) string {
			if !first || !strings.HasPrefix(line, "    url") {
				return line
			}
			first = false
			return "    url: " + quote(url)
		})
	}
	return text
}

// quote quotes a string for YAML.
func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
