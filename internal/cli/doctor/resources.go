package doctor

import (
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/text/hfhub"
)

// Connections below which the limit of open files is worth a note, or a problem.
const (
	fewConnections = 1000
	tooFew         = 50
)

func (f *Facts) files() Check {
	c := Check{Name: "open files"}
	if f.Files == 0 {
		c.Found, c.Meaning = "There is no limit of open files that matters.", "Each connection needs one file."
		return c
	}
	c.Values = map[string]any{"files": f.Files, "connections": f.Connections}
	c.Found = fmt.Sprintf("This process may open %s.", terminal.Plural(f.Files, "file"))
	c.Meaning = fmt.Sprintf("That is enough for %s at once.", terminal.Plural(f.Connections, "connection"))
	if f.Connections < fewConnections {
		c.Level, c.Change = Note, "ulimit -n 65536"
		if f.Connections < tooFew {
			c.Level = Problem
		}
	}
	return c
}

func (f *Facts) memory() Check {
	c := Check{Name: "memory"}
	if f.Use.MemoryMax == 0 {
		c.Found, c.Meaning = "This system does not report its memory.", "A run needs some 100 MB."
		return c
	}
	c.Values = map[string]any{"used_percent": f.Use.MemoryMax}
	c.Found = fmt.Sprintf("%.0f %% of the memory is in use.", f.Use.MemoryMax)
	c.Meaning = "A run needs some 100 MB. Prompts and records that do not fit are kept on disk."
	if f.Use.MemoryMax > metric.FullMemory {
		c.Level, c.Change = Note, "Stop other programs: without free memory, the machine pauses to swap."
	}
	return c
}

// Free space in bytes below which a disk is worth a note, or a problem.
const (
	littleSpace = 1e9
	noSpace     = 50e6
)

// space returns a text about free space; "" if it is unknown.
func space(free int64) string {
	if free < 0 {
		return ""
	}
	return ", " + hfhub.Size(free) + " free"
}

func (f *Facts) disk() Check {
	c := Check{
		Name: "results", Found: fmt.Sprintf("%s: writable%s.", terminal.Line(f.Dir), space(f.DirFree)),
		Meaning: "Results go to artifacts/ in the current directory: some 2 KB per request, and all answers with --export-level raw.",
		Values:  map[string]any{"writable": f.DirWrites},
	}
	if f.DirFree >= 0 {
		c.Values["free_bytes"] = f.DirFree
	}
	switch {
	case !f.DirWrites:
		c.Level, c.Found = Problem, terminal.Line(f.Dir)+" is not writable."
		c.Change = "cd to a directory that you may write to, or use --artifact-dir DIR."
	case f.DirFree >= 0 && f.DirFree < noSpace:
		c.Level, c.Change = Problem, "Free some space, or use --artifact-dir DIR on another disk."
	case f.DirFree >= 0 && f.DirFree < littleSpace:
		c.Level, c.Change = Note, "For large runs, use --artifact-dir DIR on another disk."
	}
	return c
}

func (f *Facts) cache() Check {
	c := Check{
		Name: "tokenizer cache", Values: map[string]any{"directory": f.Cache, "offline": f.Offline != ""},
		Meaning: "Tokens are counted with the model's own tokenizer, which is downloaded once.",
	}
	at := terminal.Line(f.Cache)
	switch {
	case f.CacheModels < 0:
		c.Found = at + " does not exist yet."
	case f.CacheModels == 0:
		c.Found = fmt.Sprintf("%s has no model%s.", at, space(f.CacheFree))
	default:
		c.Found = fmt.Sprintf("%s has %s%s.", at, terminal.Plural(f.CacheModels, "model"), space(f.CacheFree))
		c.Values["models"] = f.CacheModels
	}
	switch {
	case f.Offline != "" && f.CacheModels <= 0:
		c.Level, c.Found = Note, strings.TrimSuffix(c.Found, ".")+fmt.Sprintf(", and %s forbids downloads.", f.Offline)
		c.Meaning = "No tokenizer of a model is available. Runs count with the built-in one, so token counts and ITL differ from the server's."
		c.Change = "Copy a tokenizer folder here and use --tokenizer DIR, or unset " + f.Offline + "."
	case f.CacheModels >= 0 && !f.CacheWrites:
		c.Level, c.Found = Note, strings.TrimSuffix(c.Found, ".")+"; it is not writable."
		c.Change = "Set HF_HOME to a directory that you may write to."
	case f.CacheFree >= 0 && f.CacheFree < noSpace:
		c.Level, c.Change = Note, "Set HF_HOME to a directory on another disk."
	}
	return c
}

func (f *Facts) proxy() Check {
	c := Check{
		Name: "proxy variables", Found: "No proxy variable is set.", Meaning: "Requests go directly to the servers.",
		Values: map[string]any{"used_for_requests": f.TrustProxy && len(f.Proxies) > 0},
	}
	if len(f.Proxies) == 0 {
		return c
	}
	var set []string
	for _, v := range f.Proxies {
		set = append(set, v.Name+"="+terminal.Line(v.Value))
	}
	c.Level, c.Found = Note, strings.Join(set, ", ")+"."
	c.Meaning = "Downloads of tokenizers and data sets use the proxy. Requests to servers do not."
	c.Change = "If servers are reachable only through it: --proxy URL, or " + trustVariable + "=true."
	if f.TrustProxy {
		c.Meaning = "Requests to servers and downloads use the proxy, so latencies include it."
		c.Change = "For direct requests, unset " + trustVariable + ", or name the servers in NO_PROXY."
	}
	return c
}

func (f *Facts) gpus() Check {
	c := Check{
		Name: "GPU tools", Found: "Neither nvidia-smi nor amd-smi is installed.",
		Meaning: "GPU figures come from DCGM exporters of the servers only (--gpu-telemetry URL).",
	}
	if len(f.GPUs) == 0 {
		return c
	}
	c.Values = map[string]any{}
	var found []string
	c.Meaning = "--gpu-telemetry pynvml or amdsmi reads the GPUs of this machine. Do so only if the server runs here."
	for _, t := range f.GPUs {
		c.Values[t.Name] = t.GPUs
		if t.Err != nil || t.GPUs == 0 {
			c.Level = Note
			why := "it reports no GPU"
			if t.Err != nil {
				why = terminal.Line(t.Err.Error())
			}
			found = append(found, t.Name+" does not work: "+why)
			c.Change = "Repair the driver, or take the figures from a DCGM exporter: --gpu-telemetry URL."
			continue
		}
		found = append(found, fmt.Sprintf("%s reports %s", t.Name, terminal.Plural(t.GPUs, "GPU")))
	}
	c.Found = strings.Join(found, "; ") + "."
	return c
}
