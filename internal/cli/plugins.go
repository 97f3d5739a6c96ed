package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/builtintypes"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/report/console"
)

const pluginsLong = "Lists the types that this program has, by category: built in, and of the plug-ins of this machine (docs/plugins.md). Without a category it lists the " +
	"packages, with a category its types, with a type what it is.\n\n" +
	"Plug-ins are read from $AIPERF_PLUGIN_PATH, ~/.aiperf/plugins/*/plugins.yaml and /etc/aiperf/plugins/*/plugins.yaml.\n\n" +
	"aiperf plugins new writes a working plug-in to start from, aiperf plugins lock a lock file."

// pluginsTable returns the flags of plugins.
func pluginsTable() *setting.Table {
	var names []string
	for _, c := range plugin.Categories() {
		names = append(names, c.Name)
	}
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--category"}, Kind: setting.Enum, Choices: append(names, oldCategory), Shown: names, Help: "category to list; also the first word"},
		{Flags: []string{"--name"}, Kind: setting.Text, Help: "type to describe; also the second word"},
		{Flags: []string{"--all", "-a"}, FalseNames: []string{"--no-all"}, Kind: setting.Bool, Help: "list every category with its types"},
		{Flags: []string{"--validate", "-v"}, FalseNames: []string{"--no-validate"}, Kind: setting.Bool, Help: "check the plug-ins of this machine, and start their programs"},
	})
}

// oldCategory is a category of earlier versions of the Python tool; accumulator has its types now.
const oldCategory = "results_processor"

// pluginsCommand builds the command that lists types and plug-ins.
func (p *Program) pluginsCommand() *cobra.Command {
	cmd := p.command(tableCommand{
		use: "plugins [CATEGORY [NAME]]", short: "types by category, built in and of plug-ins", long: pluginsLong,
		table: pluginsTable, bare: cobra.ShellCompDirectiveNoFileComp, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error { return p.plugins(cmd, set) },
	})
	cmd.Args = cobra.ArbitraryArgs
	flags := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if strings.HasPrefix(toComplete, "-") || len(words) > 1 || len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
			return flags(cmd, words, toComplete)
		}
		return completeTypes(words, toComplete), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.AddCommand(p.newPluginCommand(), p.lockCommand())
	return cmd
}

// completeTypes offers the categories, or the types of the category before the cursor.
func completeTypes(words []string, toComplete string) (list []string) {
	if len(words) == 0 {
		for _, c := range plugin.Categories() {
			if strings.HasPrefix(c.Name, plugin.Normalize(toComplete)) {
				list = append(list, c.Name+"\t"+c.Description)
			}
		}
		return list
	}
	if c, ok := plugin.FindCategory(words[0]); ok {
		for _, t := range typesOf(c.Name) {
			if strings.HasPrefix(t.name, toComplete) {
				list = append(list, t.name+"\t"+t.firstLine())
			}
		}
	}
	return list
}

// plugins prints what the words and flags ask for: the first of validate, all, packages, types, and one type.
func (p *Program) plugins(cmd *cobra.Command, set *setting.CommandLine) error {
	words := set.Words
	if len(words) > 2 {
		return fmt.Errorf("unexpected word %q: %s takes a category and a type", words[2], cmd.Name())
	}
	category, name := set.Text("--category", ""), set.Text("--name", "")
	for i, into := range []*string{&category, &name} {
		if len(words) > i {
			if *into != "" {
				return fmt.Errorf("%s and the word %q are both given; give one of them", []string{"--category", "--name"}[i], words[i])
			}
			*into = words[i]
		}
	}
	if name != "" && category == "" {
		return fmt.Errorf("--name %s needs a category: aiperf plugins CATEGORY NAME", name)
	}
	installed := plugin.Installed()
	if set.True("--validate", false) {
		return p.validatePlugins(installed)
	}
	for _, w := range installed.Warnings() {
		p.warnf("%s", w)
	}
	switch {
	case set.True("--all", false):
		return p.listCategories()
	case category == "":
		return p.listPackages(installed)
	}
	if plugin.Normalize(category) == oldCategory {
		category = "accumulator"
	}
	c, ok := plugin.FindCategory(category)
	if !ok {
		return unknownCategory(category)
	}
	if name == "" {
		return p.listTypes(c)
	}
	return p.describeType(c, name)
}

func unknownCategory(name string) error {
	var names []string
	for _, c := range plugin.Categories() {
		names = append(names, c.Name)
	}
	hint := ""
	if near := suggest.Name(plugin.Normalize(name), names); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return fmt.Errorf("unknown category %q%s\nAvailable: %s", name, hint, strings.Join(names, ", "))
}

// listedType is a built-in type, or a plug-in.
type listedType struct {
	name, about string
	pack        string // "aiperf" = built in
	class       string // Go package, Python class, program, or place of the manifest
	note        string // "" = it can be used
}

func (t *listedType) firstLine() string {
	first, _, _ := strings.Cut(t.about, "\n")
	return first
}

// builtInPackage is the package of the built-in types.
const builtInPackage = "aiperf"

// typesOf lists the types of a category: the built-in ones that no plug-in replaces, then the plug-ins.
func typesOf(category string) (list []listedType) {
	installed := plugin.Installed()
	built := builtInTypes(category)
	for _, t := range built.Types {
		if _, beaten, _ := installed.Choose(category, t.Name, true); beaten {
			continue
		}
		class, note := built.Source, ""
		if class == "" {
			class, note = "none", "Not needed: aiperf is one process."
		}
		list = append(list, listedType{t.Name, t.About, builtInPackage, class, note})
	}
	for _, e := range installed.Of(category) {
		if !e.BeatsBuiltIn() && slices.ContainsFunc(list, func(t listedType) bool { return t.name == e.Name }) {
			continue
		}
		list = append(list, pluginType(&e))
	}
	return list
}

// builtInTypes returns the built-in types of a category.
func builtInTypes(category string) builtintypes.Category {
	var files []string
	if f, _, ok := resolve.Flags.Lookup("--custom-dataset-type"); ok {
		files = f.Choices
	}
	return builtintypes.Of(category, files)
}

// pluginType describes a plug-in.
func pluginType(e *plugin.Entry) listedType {
	t := listedType{name: e.Name, about: e.Description, pack: e.Package}
	switch {
	case e.Class != "":
		t.class, t.note = e.Class, "It needs the Python tool and never runs here."
	case len(e.Exec) > 0:
		t.class = strings.Join(e.Command(), " ")
	default:
		t.class = e.Position()
	}
	return t
}

// listPackages prints this program and the packages of plug-ins.
func (p *Program) listPackages(installed *plugin.Set) error {
	total := 0
	for _, c := range plugin.Categories() {
		total += len(builtInTypes(c.Name).Types)
	}
	rows := [][]string{{builtInPackage, Version(), fmt.Sprint(total), "benchmarks of generative-AI servers"}}
	for _, one := range installed.Packages() {
		rows = append(rows, []string{one.Name, dash(one.Version), fmt.Sprint(one.Plugins), one.Description})
	}
	if err := p.listing("Installed Packages", []string{"Package", "Version", "Plugins", "Description"}, rows); err != nil {
		return err
	}
	return p.hint("aiperf plugins --all to see all categories and plugins")
}

// listCategories prints every category with its types.
func (p *Program) listCategories() error {
	var rows [][]string
	for _, c := range plugin.Categories() {
		var names []string
		for _, t := range typesOf(c.Name) {
			names = append(names, t.name)
		}
		rows = append(rows, []string{c.Title(), strings.Join(names, ", ")})
	}
	if err := p.listing("Plugin Categories", []string{"Category", "Plugins"}, rows); err != nil {
		return err
	}
	return p.hint("aiperf plugins <category> to see the types of a category")
}

// listTypes prints the types of a category.
func (p *Program) listTypes(c plugin.Category) error {
	if _, err := fmt.Fprintf(p.Out, "%s\n\n", upperFirst(c.Description)); err != nil {
		return err
	}
	head, list := []string{"Type", "Description"}, typesOf(c.Name)
	rows := [][]string{head}
	for _, t := range list {
		rows = append(rows, []string{t.name, ""})
	}
	room := p.room(1, rows)
	rows = rows[1:]
	for i, t := range list {
		about := t.firstLine()
		if t.pack != builtInPackage {
			about = strings.TrimSpace(about + " (" + t.pack + ")")
		}
		if t.note != "" && t.pack != builtInPackage {
			about += " " + t.note
		}
		rows[i][1] = cutTo(about, room)
	}
	if err := p.listing(c.Title()+" Types", head, rows); err != nil {
		return err
	}
	return p.hint("aiperf plugins " + c.Name + " <type> for details")
}

// upperFirst writes the first letter of a sentence as a capital, with a full stop at the end.
func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// describeType prints what one type is.
func (p *Program) describeType(c plugin.Category, name string) error {
	list := typesOf(c.Name)
	at := slices.IndexFunc(list, func(t listedType) bool { return plugin.Normalize(t.name) == plugin.Normalize(name) })
	if at < 0 {
		e, ok := plugin.Installed().Find(c.Name, name) // PACKAGE:NAME
		if !ok {
			return unknownType(c, name, list)
		}
		list, at = []listedType{pluginType(&e)}, 0
	}
	t := &list[at]
	lines := []string{"Type: " + t.name, "Category: " + c.Name, "Package: " + t.pack, "Class: " + t.class, ""}
	about := t.about
	if t.note != "" {
		about = strings.TrimSpace(about + "\n" + t.note)
	}
	for paragraph := range strings.SplitSeq(about, "\n") {
		lines = append(lines, wrap(paragraph, max(p.columns()-4, 20))...)
	}
	for i := range lines {
		lines[i] = terminal.Line(lines[i])
	}
	return console.Panel(p.Out, p.Colour, c.Name+":"+t.name, lines)
}

func unknownType(c plugin.Category, name string, list []listedType) error {
	var names []string
	for _, t := range list {
		names = append(names, t.name)
	}
	hint := ""
	if near := suggest.Name(plugin.Normalize(name), names); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return fmt.Errorf("not found: %s:%s%s\nAvailable: %s", c.Name, name, hint, strings.Join(names, ", "))
}

// listing prints a table whose last column takes the rest of the terminal.
func (p *Program) listing(title string, head []string, rows [][]string) error {
	last := len(head) - 1
	room := p.room(last, append([][]string{head}, rows...))
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Line(row[i])
		}
		row[last] = strings.Join(wrap(row[last], room), "\n")
	}
	return console.List(p.Out, p.Colour, title, head, rows)
}

// room returns the width of the column after the first ones of a table.
func (p *Program) room(columns int, rows [][]string) int {
	used := 3*(columns+1) + 1
	for i := range columns {
		widest := 0
		for _, row := range rows {
			widest = max(widest, len([]rune(row[i])))
		}
		used += widest
	}
	return max(p.columns()-used, 20)
}

// cutTo cuts a text that is too long for one line.
func cutTo(text string, room int) string {
	if r := []rune(text); len(r) > room {
		return string(r[:room-1]) + "…"
	}
	return text
}

func (p *Program) hint(usage string) error {
	_, err := fmt.Fprintf(p.Out, "\nUsage: %s\n", usage)
	return err
}
