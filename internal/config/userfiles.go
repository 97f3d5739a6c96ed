package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/redact"
	"aiperf/internal/text/jinja"
)

// UserFile is an additional output file, written to the directory of a run before its first request.
type UserFile struct {
	Path    string    `yaml:"path"`             // relative to the directory of the run
	Format  string    `yaml:"format,omitempty"` // json, yaml, text; empty: text if the content is a text, otherwise json
	Content yaml.Node `yaml:"content"`          // its texts are templates
}

// format returns the output format of a file.
func (f *UserFile) format() string {
	switch {
	case f.Format != "":
		return f.Format
	case f.isText():
		return "text"
	}
	return "json"
}

func (f *UserFile) isText() bool {
	return f.Content.Kind == yaml.ScalarNode && f.Content.ShortTag() == "!!str"
}

// fault returns what is wrong with a file, and the key below it; nil if nothing is.
func (f *UserFile) fault() (key string, err error) {
	clean := path.Clean(f.Path)
	switch {
	case f.Path == "" || clean == ".":
		return ".path", errors.New("is empty")
	case path.IsAbs(f.Path) || clean == ".." || strings.HasPrefix(clean, "../") || slices.Contains(strings.Split(f.Path, "/"), ".."):
		return ".path", fmt.Errorf("%q leads out of the directory of the run", f.Path)
	case strings.ContainsFunc(f.Path, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }):
		return ".path", fmt.Errorf("%q holds control characters or a backslash", f.Path)
	case f.Content.Kind == 0:
		return ".content", errors.New("is missing")
	case !slices.Contains([]string{"json", "yaml", "text"}, f.format()):
		return ".format", fmt.Errorf("%q is not one of json, yaml, text", f.Format)
	case f.format() == "text" && !f.isText():
		return ".format", errors.New("text takes a text as content")
	case f.format() != "text" && f.isText():
		return ".format", fmt.Errorf("%s takes values, not one text: put it into a mapping, or write format: text", f.format())
	}
	return "", nil
}

// Facts returns the names that templates of user files can use besides the variables of the file.
func (b *Benchmark) Facts(epoch, dir string) map[string]string {
	facts := map[string]string{"epoch": epoch, "job_name": path.Base(dir), "namespace": "", "artifact_dir": dir, "model": "", "endpoint_url": ""}
	if len(b.Models.Items) > 0 {
		facts["model"] = b.Models.Items[0].Name
	}
	if len(b.Endpoint.URLs) > 0 {
		facts["endpoint_url"] = redact.URL(b.Endpoint.URLs[0])
	}
	return facts
}

// UserFile returns the text of a user file. Facts have priority over variables of the same name. An unknown name is an error.
func (b *Benchmark) UserFile(f *UserFile, facts map[string]string) ([]byte, error) {
	scope := map[string]jinja.Value{}
	for i := 0; b.variables != nil && i+1 < len(b.variables.Content); i += 2 {
		scope[b.variables.Content[i].Value] = templateValue(b.variables.Content[i+1])
	}
	for name, v := range facts {
		scope[name] = v
	}
	n := copyNode(&f.Content)
	env := &jinja.Environment{Strict: true, Frozen: true, KeepTrailingNewline: true}
	if err := renderTexts(n, env, scope, f.format() != "text"); err != nil {
		return nil, fmt.Errorf("artifacts.user_files %s: %w", f.Path, err)
	}
	switch f.format() {
	case "text":
		return []byte(n.Value), nil
	case "yaml":
		return yaml.Marshal(n)
	}
	plain, err := appendJSON(nil, n)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, plain, "", "  ")
	return out.Bytes(), err
}

// renderTexts computes the templates below a node. If typed is set, results that look like numbers and booleans become such values.
func renderTexts(n *yaml.Node, env *jinja.Environment, scope map[string]jinja.Value, typed bool) error {
	if isTemplate(n) {
		t, err := env.Parse(n.Value)
		if err != nil {
			return err
		}
		text, err := t.Render(scope)
		if err != nil {
			return err
		}
		if n.SetString(text); typed {
			retype(n, text)
		}
		return nil
	}
	n.Style &^= yaml.FlowStyle
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if err := renderTexts(c, env, scope, typed); err != nil {
			return err
		}
	}
	return nil
}
