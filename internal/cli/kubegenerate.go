package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/exampleconfigs"
	"aiperf/internal/run/kube"
)

const kubeGenerateLong = "Prints the manifests that kube profile would create, for kubectl apply, kustomize or GitOps. They contain no secrets and no namespace.\n\n" +
	"The Secret of the run has its keys and the secrets of its settings. --only-secret prints it alone, with new keys: apply it once for each run, and do not commit it. " +
	"Give the same --name and the namespace in which the run will be, because the address of the controller is a part of it."

func kubeGenerateTable() *setting.Table {
	return setting.NewTable(podRows(), clusterRows(), []setting.Row{{Flags: []string{"--only-secret"}, Kind: setting.Bool, Help: "print the Secret alone, with new keys"}})
}

// kubeGenerate builds the command that prints manifests.
func (p *Program) kubeGenerate() *cobra.Command {
	return p.overProfile("generate", "manifests of a run, without secrets", kubeGenerateLong, kubeGenerateTable, func(ctx context.Context, own *setting.CommandLine, words []string) (int, error) {
		secret := own.True("--only-secret", false)
		if secret && !own.Has("--name") {
			return 1, errors.New("--only-secret: needs --name, the name of the run in the manifests")
		}
		c, err := p.clusterRunOf(ctx, own, words)
		if err != nil || c == nil {
			return 1, err
		}
		if len(c.spec.Uploads) > 0 {
			return 1, fmt.Errorf("%s is too large for a ConfigMap, which holds at most %d KiB; put it on a volume and mount it with --volume-claims", c.spec.Uploads[0].Path, kube.MaxData>>10)
		}
		if !secret {
			p.printErr("note: these objects need the Secret %s; print it with the same flags, --name %s and --only-secret", c.spec.Name, c.spec.Name)
			return 0, p.printObjects(c.spec.Objects())
		}
		namespace := own.Text("--namespace", "")
		if namespace == "" {
			cluster, err := p.openCluster(own)
			if err != nil {
				return 1, fmt.Errorf("%w; or name the namespace with --namespace", err)
			}
			namespace = cluster.Namespace()
		}
		keys, err := p.keysFor(c.spec, namespace)
		if err != nil {
			return 1, err
		}
		text, err := kube.YAML([]kube.Object{c.spec.Secret(keys)})
		if err == nil {
			_, err = p.data().Write(text)
		}
		return 0, err
	})
}

const kubeInitLong = "Prints a configuration file to start from, with the commands that run it on a cluster. The templates are those of config init."

func kubeInitTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--template", "-t"}, Kind: setting.Text, Default: "minimal", Help: "name of the template"},
		{Flags: []string{"--list", "-l"}, Kind: setting.Bool, Help: "list the templates by category"},
		{Flags: []string{"--search", "-s"}, Kind: setting.Text, Help: "list the templates that mention this text"},
		{Flags: []string{"--category", "-c"}, Kind: setting.Text, Help: "list the templates of this category"},
		{Flags: []string{"--verbose", "-v"}, Kind: setting.Bool, Help: "list tags and difficulty too"},
		{Flags: []string{"--model"}, Kind: setting.Text, Help: "model name to insert"},
		{Flags: []string{"--url"}, Kind: setting.Text, Help: "server URL to insert, as pods reach it"},
		{Flags: []string{"--output", "-o"}, Kind: setting.Path, Default: "standard output", Help: "new file to write"},
		{Flags: []string{"--job-name"}, Kind: setting.Text, Default: "my-benchmark", Help: "name of the run in the commands"},
	})
}

// kubeInit builds the command that prints a configuration to start from.
func (p *Program) kubeInit() *cobra.Command {
	return p.command(tableCommand{
		use: "init", short: "configuration file to start from", long: kubeInitLong, table: kubeInitTable, bare: cobra.ShellCompDirectiveNoFileComp,
		run: func(_ *cobra.Command, set *setting.CommandLine, _ []string) error {
			if set.True("--list", false) || set.Has("--search") || set.Has("--category") {
				return p.listTemplates(set.Text("--search", ""), set.Text("--category", ""), set.True("--verbose", false))
			}
			t, err := exampleconfigs.Find(set.Text("--template", "minimal"))
			if err != nil {
				return fmt.Errorf("kube init: %w", err)
			}
			name, output := set.Text("--job-name", "my-benchmark"), set.Text("--output", "")
			if !runName.MatchString(name) {
				return fmt.Errorf("--job-name %q: use 1 to 40 lower-case letters, digits and -, the first one a letter", name)
			}
			file := output
			if file == "" {
				file = "run.yaml"
			}
			text := fmt.Sprintf("# Check:  aiperf kube validate %s\n# Run:    aiperf kube profile --config %s --name %s --image IMAGE --total-workers 4\n# GitOps: aiperf kube generate --config %s --name %s --image IMAGE\n",
				file, file, name, file, name) + t.With(set.Text("--model", ""), set.Text("--url", ""))
			if output == "" {
				_, err = io.WriteString(p.data(), text)
				return err
			}
			if err := writeNew(output, text, false); err != nil {
				return fmt.Errorf("--output: %w", err)
			}
			return nil
		},
	})
}

const kubeValidateLong = "Checks configuration files for runs on a cluster, and manifests that kube generate printed: the settings, the size of the data, and that the objects of a run belong together. It contacts nothing."

func kubeValidateTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--files"}, Kind: setting.Path, List: true, Help: "files to check; also as words"},
		{Flags: []string{"--strict", "-s"}, Kind: setting.Bool, Help: "warnings are errors too"},
		{Flags: []string{"--output", "-o"}, Kind: setting.Enum, Choices: []string{"text", "json"}, Default: "text", Help: "format"},
	})
}

// validated is the result of checking a file.
type validated struct {
	File     string   `json:"file"`
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// kubeValidate builds the command that checks files for runs on a cluster.
func (p *Program) kubeValidate() *cobra.Command {
	return p.command(tableCommand{
		use: "validate FILE…", short: "check of files for runs on a cluster", long: kubeValidateLong, table: kubeValidateTable, words: true, bare: cobra.ShellCompDirectiveDefault,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			files := append(set.Texts("--files"), set.Words...)
			if len(files) == 0 {
				return errors.New("kube validate: name the files to check")
			}
			all, failed := []validated{}, false
			for _, file := range files {
				v := p.validateFile(cmd.Context(), file)
				v.Valid = len(v.Errors) == 0 && (len(v.Warnings) == 0 || !set.True("--strict", false))
				failed = failed || !v.Valid
				all = append(all, v)
			}
			if err := p.printValidated(all, set.Text("--output", "text") == "json"); err != nil {
				return err
			}
			if failed {
				return exitStatus(1)
			}
			return nil
		},
	})
}

func (p *Program) printValidated(all []validated, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(p.data())
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	for _, v := range all {
		for _, line := range v.Warnings {
			fmt.Fprintf(p.Out, "%s: warning: %s\n", v.File, line)
		}
		for _, line := range v.Errors {
			fmt.Fprintf(p.Out, "%s: error: %s\n", v.File, line)
		}
		if v.Valid {
			fmt.Fprintf(p.Out, "%s: valid\n", v.File)
		}
	}
	return nil
}

// validateFile checks one file: manifests if it has objects of Kubernetes, else a configuration.
func (p *Program) validateFile(ctx context.Context, file string) validated {
	v := validated{File: file, Errors: []string{}, Warnings: []string{}}
	text, err := os.ReadFile(file)
	if err != nil {
		v.Errors = append(v.Errors, err.Error())
		return v
	}
	objects, err := documents(text)
	if err == nil && len(objects) > 0 && objects[0]["kind"] != nil {
		errs, warnings := kube.ValidateObjects(objects)
		v.Errors, v.Warnings = append(v.Errors, errs...), append(v.Warnings, warnings...)
		text = []byte(kube.ConfigOf(objects))
		if len(text) == 0 || len(v.Errors) > 0 {
			return v
		}
		return p.validateConfigText(ctx, text, v)
	}
	p.validateConfig(ctx, file, &v)
	return v
}

// validateConfigText checks a configuration that is a part of manifests. The secrets that it names are only there in the cluster.
func (p *Program) validateConfigText(ctx context.Context, text []byte, v validated) validated {
	f, err := os.CreateTemp("", "aiperf-*.yaml")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		v.Errors = append(v.Errors, err.Error())
		return v
	}
	q := *p
	q.Environ = append(append([]string(nil), p.Environ...), kube.Placeholders(string(text))...)
	q.validateConfig(ctx, f.Name(), &v)
	for i, line := range v.Errors {
		v.Errors[i] = strings.ReplaceAll(line, f.Name(), kube.ConfigFile)
	}
	return v
}

// validateConfig resolves a configuration as kube profile would.
func (p *Program) validateConfig(ctx context.Context, file string, v *validated) {
	own, problems := setting.Scan(kubeGenerateTable(), []string{"--image", "aiperf", "--name", "check"})
	if len(problems) > 0 {
		v.Errors = append(v.Errors, problems...)
		return
	}
	var said bytes.Buffer
	quiet := *p
	quiet.Err = &said
	c, err := quiet.clusterRunOf(ctx, own, []string{"--config", file})
	for line := range strings.Lines(said.String()) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "warning: "); ok {
			v.Warnings = append(v.Warnings, rest)
		}
		if rest, ok := strings.CutPrefix(line, "error: "); ok {
			v.Errors = append(v.Errors, rest)
		}
	}
	if err != nil {
		v.Errors = append(v.Errors, err.Error())
	} else if c == nil && len(v.Errors) == 0 {
		v.Errors = append(v.Errors, "the configuration is not valid")
	}
}

// documents reads the objects of a stream of YAML documents.
func documents(text []byte) (objects []kube.Object, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var o kube.Object
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
}
