// Package pluginexamples contains the example plug-ins of aiperf plugins new: for each kind and language a program, its manifest and its test.
package pluginexamples

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"aiperf/contrib/python"
	"aiperf/internal/base/sorting"
	"aiperf/internal/base/suggest"
)

// The programs are text files. Otherwise the Go programs would be packages of this module.
//
//go:embed files
var files embed.FS

// placeholder stands for the name of the plug-in in the files.
const placeholder = "my_plugin"

// Example is the kind, language and name of a plug-in to write.
type Example struct{ kind, language, name string }

// File is one file of an example.
type File struct {
	Name string // "/" separates directories
	Text string
}

// kind is a kind of plug-in that examples exist for.
type kind struct {
	word, category, description, metadata string
	run                                   string // command that uses the plug-in; DIR is its directory
	data                                  string // file that the command reads, "" = none
}

var kinds = []kind{
	{
		word: "endpoint", category: "endpoint", description: "Chat API with a header that names the plug-in.",
		metadata: "    metadata:\n      endpoint_path: /v1/chat/completions\n      supports_streaming: true\n      produces_tokens: true\n" +
			"      tokenizes_input: true\n      metrics_title: LLM Metrics\n      framing: sse\n",
		run: "aiperf profile --url mock:// --model mock --streaming --endpoint-type my_plugin --request-count 10",
	},
	{
		word: "loader", category: "custom_dataset_loader", description: "Text files: a line is a turn, and an empty line ends a conversation.",
		run: "aiperf profile --url mock:// --model mock --input-file DIR/example.turns --custom-dataset-type my_plugin", data: "example.turns",
	},
	{
		word: "grader", category: "accuracy_grader", description: "The last line of an answer must be the truth, whatever the case.",
		run: "aiperf profile --url mock:// --model mock --accuracy-benchmark gsm8k --accuracy-grader my_plugin --request-count 10",
	},
	{
		word: "exporter", category: "data_exporter", description: "One more file with results of a run.",
		run: "aiperf profile --url mock:// --model mock --request-count 10",
	},
}

// language is a language that examples exist in.
type language struct {
	word       string
	exec       string            // command in the manifest; KIND is the word of the kind
	test       string            // command that runs the test of an example
	build      string            // command that makes the program, "" = none is needed
	files      map[string]string // name of a file of the example -> name of the file in files, or of the text in texts
	texts      map[string]string
	needs      string
	exceptions map[string]string // kinds without an example, with the reason
}

var languages = []language{
	{
		word: "python", exec: "[python3, -B, KIND.py]", test: "python3 -m unittest", needs: "Python 3.9",
		files: map[string]string{"KIND.py": "KIND.py", "test_KIND.py": "test_KIND.py"}, texts: map[string]string{"aiperf_plugin.py": python.Module},
	},
	{
		word: "go", exec: "[./my_plugin]", test: "go test", build: "go build -o my_plugin .", needs: "Go 1.22",
		files: map[string]string{"main.go": "KIND.go.txt", "main_test.go": "KIND_test.go.txt", "protocol.go": "protocol.go.txt"},
		texts: map[string]string{"go.mod": "module my_plugin\n\ngo 1.22\n", ".gitignore": "/my_plugin\n"},
	},
	{
		word: "bash", exec: "[bash, KIND.sh]", test: "bash test.sh", needs: "bash 4.2",
		files: map[string]string{"KIND.sh": "KIND.sh", "test.sh": "KIND_test.sh", "protocol.sh": "protocol.sh"},
		exceptions: map[string]string{
			"endpoint": "bash cannot read JSON, and an endpoint must read it in every answer; use --language python or go, " +
				"or describe the endpoint in plugins.yaml without a program (docs/plugins.md)",
		},
	},
}

// Kinds returns the words for the kinds of plug-ins.
func Kinds() (words []string) {
	for _, k := range kinds {
		words = append(words, k.word)
	}
	return words
}

// Languages returns the languages of the examples.
func Languages() (words []string) {
	for _, l := range languages {
		words = append(words, l.word)
	}
	return words
}

// New returns the example of a kind in a language with the name of the plug-in; "-" in the name becomes "_". The error names the mistake and what is allowed.
func New(kindWord, name, languageWord string) (Example, error) {
	e := Example{kindWord, languageWord, strings.ReplaceAll(strings.ToLower(name), "-", "_")}
	if err := known("kind of plug-in", kindWord, Kinds()); err != nil {
		return e, err
	}
	if err := known("--language", languageWord, Languages()); err != nil {
		return e, err
	}
	if !validName(e.name) {
		return e, fmt.Errorf("name %q: letters, digits and \"_\" are allowed, and a letter must be first, for example my_%s", name, kindWord)
	}
	if why := e.spoken().exceptions[kindWord]; why != "" {
		return e, fmt.Errorf("--language %s has no %s: %s", languageWord, kindWord, why)
	}
	return e, nil
}

func known(what, word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	hint := ""
	if near := suggest.Name(word, words); near != "" {
		hint = ", did you mean " + near + "?"
	}
	return fmt.Errorf("%s %q is not one of %s%s", what, word, strings.Join(words, ", "), hint)
}

// validName reports whether a name can be that of a plug-in, a Go module and a file.
func validName(name string) bool {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && len(name) <= 60
}

func (e Example) sort() kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.word == e.kind })]
}

func (e Example) spoken() language {
	return languages[slices.IndexFunc(languages, func(l language) bool { return l.word == e.language })]
}

// Name returns the name of the plug-in, normalized.
func (e Example) Name() string { return e.name }

// Category returns the category of the plug-in.
func (e Example) Category() string { return e.sort().category }

// Test returns the command that runs the example's own test in its directory.
func (e Example) Test() string { return e.filled(e.spoken().test) }

// Build returns the command that makes the program in its directory; "" = none is needed.
func (e Example) Build() string { return e.filled(e.spoken().build) }

// Run returns a command that uses the plug-in in directory dir against the simulated server.
func (e Example) Run(dir string) string {
	return strings.ReplaceAll(e.filled(e.sort().run), "DIR", dir)
}

// filled returns a text of the example with its name and kind.
func (e Example) filled(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, placeholder, e.name), "KIND", e.kind)
}

// Files returns the files of the example.
func (e Example) Files() ([]File, error) {
	k, l := e.sort(), e.spoken()
	list := []File{{"plugins.yaml", e.manifest(k, l)}, {"README.md", e.readme(k, l)}}
	for name, from := range l.files {
		text, err := files.ReadFile("files/" + l.word + "/" + e.filled(from))
		if err != nil {
			return nil, err
		}
		list = append(list, File{e.filled(name), e.filled(string(text))})
	}
	for name, text := range l.texts {
		list = append(list, File{name, e.filled(text)})
	}
	if k.data != "" {
		text, err := files.ReadFile("files/" + k.data)
		if err != nil {
			return nil, err
		}
		list = append(list, File{k.data, string(text)})
	}
	sorting.Sort(list, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (e Example) manifest(k kind, l language) string {
	return fmt.Sprintf("schema_version: \"1.0\"\n%s:\n  %s:\n    description: %q\n    exec: %s\n%s", k.category, e.name, k.description, e.filled(l.exec), k.metadata)
}

func (e Example) readme(k kind, l language) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nA plug-in of aiperf (%s), in %s. %s\n\n", e.name, k.category, l.word, k.description)
	fmt.Fprintf(&b, "It needs %s and nothing else. `plugins.yaml` says what aiperf starts; the page docs/plugin-protocol.md of aiperf describes the protocol.\n\n", l.needs)
	b.WriteString("```sh\n")
	if l.build != "" {
		fmt.Fprintf(&b, "%s\n", e.Build())
	}
	fmt.Fprintf(&b, "%s    # its own test\nexport AIPERF_PLUGIN_PATH=$PWD\naiperf plugins --validate\n%s\n```\n", e.Test(), e.Run("."))
	return b.String()
}
