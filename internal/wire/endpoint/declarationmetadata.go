package endpoint

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// requiredMetadata are the keys that the metadata of an endpoint must have (spec: extensibility, section 2.2).
var requiredMetadata = []string{"endpoint_path", "supports_streaming", "produces_tokens", "tokenizes_input", "metrics_title"}

// metadata reads the abilities of an endpoint type.
func (d *definition) metadata() {
	of := d.child(d.entry.Definition, "metadata")
	if of == nil || of.Kind != yaml.MappingNode {
		d.wrong(of, "metadata", "is missing; it needs %s", strings.Join(requiredMetadata, ", "))
		return
	}
	readers := d.into.kind.metadataReaders(d)
	if len(d.entry.Exec) == 0 {
		d.each(of, "metadata", readers)
	} else {
		d.known(of, readers)
	}
	var missing []string
	for _, name := range requiredMetadata {
		if !has(of, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		d.wrong(of, "metadata", "lacks %s", strings.Join(missing, ", "))
	}
}

// known reads the metadata of a program that aiperf knows; the others are options of the program.
func (d *definition) known(of *yaml.Node, readers map[string]func(string, *yaml.Node)) {
	readers["framing"], readers["input"] = d.framing, d.inputs
	for i := 0; i+1 < len(of.Content); i += 2 {
		key, value := of.Content[i].Value, followed(of.Content[i+1])
		if read, ok := readers[key]; ok && value.Tag != "!!null" {
			read("metadata."+key, value)
		}
	}
}

func has(of *yaml.Node, key string) bool {
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			return true
		}
	}
	return false
}

// metadataReaders returns the readers of the keys of metadata.
func (e *Endpoint) metadataReaders(d *definition) map[string]func(string, *yaml.Node) {
	readers := map[string]func(string, *yaml.Node){
		"endpoint_path":  func(key string, value *yaml.Node) { e.Path = d.urlPath(key, value) },
		"streaming_path": func(key string, value *yaml.Node) { e.StreamPath = d.urlPath(key, value) },
		"metrics_title":  func(key string, value *yaml.Node) { e.Title = d.text(key, value) },
		"service_kind":   func(key string, value *yaml.Node) { d.text(key, value) }, // GenAI-Perf's name for the kind of server
	}
	for name, into := range map[string]*bool{
		"supports_streaming": &e.Streams, "produces_tokens": &e.ProducesTokens, "tokenizes_input": &e.TokenizesInput,
		"supports_audio": &e.Audio, "supports_images": &e.Images, "supports_videos": &e.Video, "requires_inline_media": &e.InlineMedia,
		"consumes_system_message": &e.SystemMessage, "supports_cache_bust": &e.CacheBust,
		"produces_audio": nil, "produces_images": nil, "produces_videos": nil, "requires_polling": nil, "requires_form_data": nil,
	} {
		readers[name] = func(key string, value *yaml.Node) { d.flag(key, value, into) }
	}
	return readers
}

// flag reads a boolean. into = nil: response says the same more exactly; true must agree with it (agreeFlag).
func (d *definition) flag(key string, value *yaml.Node, into *bool) {
	var on bool
	if value.Tag != "!!bool" || value.Decode(&on) != nil {
		d.wrong(value, key, "must be true or false")
		return
	}
	if into != nil {
		*into = on
	} else if on {
		d.agreeFlag(key, value)
	}
}

// agreeFlag checks a flag that is true and whose meaning another part of the entry has.
func (d *definition) agreeFlag(key string, value *yaml.Node) {
	isProgram, response := len(d.entry.Exec) > 0, d.child(d.entry.Definition, "response")
	needed := map[string]string{"metadata.produces_images": "images", "metadata.produces_videos": "videos", "metadata.produces_audio": "items", "metadata.requires_polling": "poll"}[key]
	switch {
	case needed == "" && !isProgram:
		d.wrong(value, key, "cannot be true: bodies of a template are JSON; use a program (exec)")
	case needed != "" && isProgram:
		d.wrong(value, key, "cannot be true: a program reads texts only, in one answer; describe the endpoint with request and response")
	case needed != "" && d.child(response, needed) == nil:
		d.wrong(value, key, "needs response.%s", needed)
	}
}

// urlPath reads a path.
func (d *definition) urlPath(key string, value *yaml.Node) string {
	path := d.text(key, value)
	if path != "" && !strings.HasPrefix(path, "/") {
		d.wrong(value, key, "is %q, but must begin with \"/\"", path)
	}
	return path
}
