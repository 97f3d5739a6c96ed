package public

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/dataset/table"
)

// The layout of a repository: which of its files form a split of a configuration (documentation of the hub, "Structure your repository" and "Manual
// configuration"; datasets.md, section 2.1).

// pageConfig is a configuration in the front matter of a repository's README.md.
type pageConfig struct {
	Name    string    `yaml:"config_name"`
	Files   dataFiles `yaml:"data_files"`
	Default bool      `yaml:"default"`
}

// dataFiles are the files of each split: split -> globs. A glob or list of globs without a split is the split train.
type dataFiles []splitFiles

type splitFiles struct {
	Split string `yaml:"split"`
	Path  globs  `yaml:"path"`
}

// globs is one glob or a list.
type globs []string

// UnmarshalYAML accepts both forms.
func (g *globs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*g = globs{n.Value}
		return nil
	}
	return n.Decode((*[]string)(g))
}

// UnmarshalYAML accepts all forms.
func (d *dataFiles) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode {
		return n.Decode((*[]splitFiles)(d))
	}
	if n.Kind == yaml.MappingNode {
		var m map[string]globs
		if err := n.Decode(&m); err != nil {
			return err
		}
		for split, g := range m {
			*d = append(*d, splitFiles{split, g})
		}
		return nil
	}
	var g globs
	if err := n.Decode(&g); err != nil {
		return err
	}
	*d = dataFiles{{"train", g}}
	return nil
}

// maxPage is the maximum size of a README.md, in bytes.
const maxPage = 16 << 20

// configs returns the configurations in the README.md of a repository.
func configs(ctx context.Context, s *hfhub.Snapshot) ([]pageConfig, error) {
	front, err := page(ctx, s)
	if err != nil || front == nil {
		return nil, err
	}
	var head struct {
		Configs []pageConfig `yaml:"configs"`
	}
	if err := yaml.Unmarshal(front, &head); err != nil {
		return nil, fmt.Errorf("README.md: front matter: %w", err)
	}
	return head.Configs, nil
}

// page returns the front matter of a repository's README.md; nil = none.
func page(ctx context.Context, s *hfhub.Snapshot) ([]byte, error) {
	if !slices.Contains(s.Names, "README.md") {
		return nil, nil
	}
	file, err := s.File(ctx, "README.md")
	if err != nil {
		return nil, err
	}
	text, err := boundedfile.ReadAll(file, maxPage)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), "---\n")
	front, _, closed := strings.Cut(rest, "\n---")
	if !ok || !closed {
		return nil, nil
	}
	return []byte(front), nil
}

// files returns the files of a split, by name. config "" = the only configuration, or the default one.
func files(ctx context.Context, s *hfhub.Snapshot, config, split string) ([]string, error) {
	stated, err := configs(ctx, s)
	if err != nil {
		return nil, err
	}
	splits := bySplit(s.Names)
	if len(stated) > 0 {
		c, err := choose(stated, config)
		if err != nil {
			return nil, err
		}
		if len(c.Files) > 0 {
			splits = byGlobs(c.Files, s.Names)
		}
	} else if config != "" {
		if within := below(s.Names, config); len(within) > 0 {
			splits = bySplit(within)
		}
	}
	found := splits[split]
	if len(found) == 0 {
		found = splits[splitWords[split]] // the repository may use another word for this split
	}
	if len(found) == 0 {
		var names []string
		for name, files := range splits {
			if len(files) > 0 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if len(names) == 0 {
			return nil, fmt.Errorf("no files for split %s: the repository has none of the types %s", split, strings.Join(table.Endings(), ", "))
		}
		return nil, fmt.Errorf("unknown split %s; the repository has %s", split, strings.Join(names, ", "))
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// choose returns the configuration with this name; "" = the only one or the default.
func choose(stated []pageConfig, name string) (pageConfig, error) {
	var names []string
	for _, c := range stated {
		if name != "" && c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	list := strings.Join(names, ", ")
	switch {
	case name != "":
		return pageConfig{}, fmt.Errorf("unknown subset %q; the repository has %s", name, list)
	case len(stated) == 1:
		return stated[0], nil
	}
	for _, c := range stated {
		if c.Default || c.Name == "default" {
			return c, nil
		}
	}
	return pageConfig{}, fmt.Errorf("the repository has several subsets; choose one of %s", list)
}

// below returns the names in a folder.
func below(names []string, folder string) (within []string) {
	for _, n := range names {
		if strings.HasPrefix(n, folder+"/") {
			within = append(within, n)
		}
	}
	return within
}

// splitWords are the words that name a split in a path.
var splitWords = map[string]string{
	"train": "train", "training": "train", "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
	"test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}

var notWord = lazyregexp.New(`[^a-z0-9]+|[0-9]+`)

// shard matches a file of a split written in parts. Any word may then name a split.
var shard = lazyregexp.New(`^data/(\w+)-\d{5}-of-\d{5}`)

// bySplit groups tables by the split that a word in their path names: first in the file name, else in a folder. If no path has such a word, all are
// train.
func bySplit(names []string) map[string][]string {
	splits := map[string][]string{}
	var rest []string
	for _, n := range names {
		if !table.Known(n) {
			continue
		}
		split := ""
		if m := shard.FindStringSubmatch(n); m != nil {
			split = m[1]
		}
		for dir := strings.ToLower(n); split == "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
			for _, w := range notWord.Split(path.Base(dir), -1) {
				if s := splitWords[w]; s != "" && split == "" {
					split = s
				}
			}
		}
		if split == "" {
			rest = append(rest, n)
			continue
		}
		splits[split] = append(splits[split], n)
	}
	if len(splits) == 0 {
		splits["train"] = rest
	}
	return splits
}

// byGlobs groups files by the globs of their splits.
func byGlobs(data dataFiles, names []string) map[string][]string {
	splits := map[string][]string{}
	for _, d := range data {
		for _, g := range d.Path {
			re := globPattern(g)
			for _, n := range names {
				if re.MatchString(n) && table.Known(n) {
					splits[d.Split] = append(splits[d.Split], n)
				}
			}
		}
	}
	return splits
}

// globPattern converts a glob to a regular expression. * and ? match within a folder, ** matches across folders, [..] is a set of characters.
func globPattern(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	glob = strings.TrimPrefix(glob, "./")
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[' && strings.IndexByte(glob[i:], ']') > 1:
			end := i + strings.IndexByte(glob[i:], ']')
			set := strings.ReplaceAll(glob[i+1:end], `\`, `\\`)
			if rest, not := strings.CutPrefix(set, "!"); not {
				set = "^" + rest
			}
			b.WriteString("[" + set + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString("$")
	re, err := regexp.Compile(b.String())
	if err != nil { // an invalid character set: use the glob as a literal name
		return regexp.MustCompile("^" + regexp.QuoteMeta(glob) + "$")
	}
	return re
}
