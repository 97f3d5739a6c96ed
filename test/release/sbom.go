package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// bom is a list of contents in the form CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). It has no serial number and no time, so that two lists of
// equal programs are equal.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     bomMetadata  `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type bomMetadata struct {
	Component component `json:"component"`
}

// component is the program or a module that it contains.
type component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version,omitempty"`
	URL        string          `json:"purl,omitempty"`
	Hashes     []hash          `json:"hashes,omitempty"`
	Licences   []licenceChoice `json:"licenses,omitempty"`
	Properties []property      `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenceChoice struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref  string   `json:"ref"`
	Uses []string `json:"dependsOn"`
}

// writeSBOM writes the list of contents of a built program, from the module list that the Go linker put into it.
func writeSBOM(program, path string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	known, err := linked()
	if err != nil {
		return err
	}
	list, err := contentsOf(info, text, known)
	if err != nil {
		return err
	}
	out, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(out, '\n'), 0o644)
}

// contentsOf returns the list of contents of a program. known has the licences of the modules.
func contentsOf(info *debug.BuildInfo, text []byte, known []module) (*bom, error) {
	sum := sha256.Sum256(text)
	main := component{
		Type: "application", Ref: "aiperf", Name: "aiperf", Version: releaseVersion(), Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
		Licences: licenceChoices("Apache-2.0"),
	}
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision"}, s.Key) {
			main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	list := &bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: bomMetadata{main}}
	std := component{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), URL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Licences: licenceChoices("BSD-3-Clause")}
	list.Components = append(list.Components, std)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		at := slices.IndexFunc(known, func(k module) bool { return k.path == m.Path })
		if at < 0 {
			return nil, fmt.Errorf("%s: its licence is not known", m.Path)
		}
		names, err := known[at].licencesOf()
		if err != nil {
			return nil, err
		}
		url := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
		list.Components = append(list.Components, component{
			Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url, Licences: licenceChoices(names...), Properties: []property{{"go:sum", m.Sum}},
		})
	}
	uses := make([]string, 0, len(list.Components))
	for _, c := range list.Components {
		uses = append(uses, c.Ref)
	}
	list.Dependencies = []dependency{{"aiperf", uses}}
	return list, nil
}

func licenceChoices(names ...string) (list []licenceChoice) {
	for _, n := range names {
		var c licenceChoice
		c.Licence.ID = n
		list = append(list, c)
	}
	return list
}
