package synth

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/rng"
)

// codingBytes is the length of the programming corpus, in bytes.
const codingBytes = 3 << 20

// codingKinds are the kinds of passages in the corpus, with their shares in percent (spec: synthetic, section 3.1).
var codingKinds = []struct {
	share int
	write func(w *codeWriter)
}{
	{28, (*codeWriter).code},
	{11, (*codeWriter).training},
	{20, (*codeWriter).shell},
	{11, (*codeWriter).object},
	{9, (*codeWriter).trace},
	{3, (*codeWriter).query},
	{10, (*codeWriter).settings},
	{8, (*codeWriter).request},
}

// codingChunks generates the corpus in chunks. It writes passages in random order, with a blank line between them, and keeps the shares by length.
func codingChunks(r *rng.Stream) []string {
	total := 0
	for _, k := range codingKinds {
		total += k.share
	}
	written := make([]int, len(codingKinds))
	var chunks []string
	w := &codeWriter{r: r}
	for size := 0; size < codingBytes; {
		// Choose the kind that is furthest below its share, compared with a random one, so that the order is not periodic.
		next := r.Below(len(codingKinds))
		for i, k := range codingKinds {
			if written[i]*codingKinds[next].share < written[next]*k.share {
				next = i
			}
		}
		before := w.Len()
		codingKinds[next].write(w)
		w.WriteString("\n\n")
		written[next] += w.Len() - before
		size += w.Len() - before
		if w.Len() >= chunkChars {
			chunks = append(chunks, w.String())
			w.Reset()
		}
	}
	if w.Len() > 0 {
		chunks = append(chunks, w.String())
	}
	return chunks
}

// codeWriter writes text of the kinds that programmers work with.
type codeWriter struct {
	strings.Builder
	r *rng.Stream
}

var (
	nouns = []string{"account", "basket", "batch", "block", "cache", "channel", "client", "cursor", "device", "digest", "event", "frame", "graph", "index",
		"invoice", "job", "kernel", "lease", "ledger", "message", "metric", "node", "order", "packet", "payload", "queue", "record", "region", "replica",
		"request", "route", "sample", "schema", "session", "shard", "snapshot", "stream", "tenant", "token", "user", "vector", "worker"}
	actions = []string{"append", "attach", "build", "check", "close", "collect", "commit", "compact", "copy", "decode", "drain", "encode", "fetch", "flush",
		"load", "lock", "merge", "open", "parse", "prune", "publish", "read", "rebuild", "release", "resolve", "retry", "scan", "send", "split", "store",
		"sync", "trim", "update", "validate", "wait", "write"}
	qualities = []string{"active", "cached", "dirty", "empty", "expired", "failed", "hidden", "idle", "last", "local", "next", "open", "partial", "pending",
		"primary", "remote", "sorted", "stale", "total", "valid"}
	folders  = []string{"api", "cmd", "core", "internal", "lib", "pkg", "server", "src", "storage", "tests", "tools", "web"}
	failures = []string{"connection reset by peer", "context deadline exceeded", "checksum mismatch", "disk quota exceeded", "duplicate key", "index out of range",
		"invalid state", "no such file or directory", "permission denied", "unexpected end of input", "value is not serializable", "version conflict"}
)

func (w *codeWriter) pick(list []string) string { return list[w.r.Below(len(list))] }
func (w *codeWriter) number(below int) int      { return w.r.Below(below) }
func (w *codeWriter) f(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
}

// title returns the word with a capital letter.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func (w *codeWriter) path(ending string) string {
	return fmt.Sprintf("%s/%s/%s_%s.%s", w.pick(folders), w.pick(nouns), w.pick(actions), w.pick(nouns), ending)
}

// code writes a function in one of several languages.
func (w *codeWriter) code() {
	thing, action, other, quality := w.pick(nouns), w.pick(actions), w.pick(nouns), w.pick(qualities)
	limit := 1 + w.number(4096)
	switch w.number(4) {
	case 0:
		w.f("def %s_%s(%s, limit=%d):\n    \"\"\"%s every %s %s, at most limit of them.\"\"\"\n    %s = []\n", action, thing, other, limit, title(action), quality, thing, quality)
		w.f("    for i, item in enumerate(%s):\n        if item.%s and i < limit:\n            %s.append(item.%s(%d))\n", other, quality, quality, w.pick(actions), w.number(100))
		w.f("    if not %s:\n        raise ValueError(f\"no %s {%s!r}\")\n    return %s", quality, thing, other, quality)
	case 1:
		w.f("// %s%s %ss the %s %s and returns how many there were.\nfunc (%c *%s) %s%s(ctx context.Context, %ss []%s) (int, error) {\n",
			title(action), title(thing), action, quality, thing, thing[0], title(other), title(action), title(thing), thing, title(thing))
		w.f("\tcount := 0\n\tfor _, item := range %ss {\n\t\tif err := %c.%s(ctx, item); err != nil {\n\t\t\treturn count, fmt.Errorf(\"%s %s: %%w\", err)\n\t\t}\n\t\tcount++\n\t}\n",
			thing, thing[0], w.pick(actions), action, thing)
		w.f("\treturn min(count, %d), nil\n}", limit)
	case 2:
		w.f("export async function %s%s(%s: %s, options: %sOptions = {}): Promise<%s[]> {\n", action, title(thing), other, title(other), title(action), title(thing))
		w.f("  const { limit = %d, %s = %t } = options;\n  const found = await %s.%s({ %s });\n", limit, quality, w.number(2) == 0, other, w.pick(actions), quality)
		w.f("  return found.filter((item) => item.%s !== null).slice(0, limit);\n}", quality)
	default:
		w.f("impl %s {\n    pub fn %s_%s(&mut self, %s: &[%s]) -> Result<usize, Error> {\n", title(other), action, thing, thing, title(thing))
		w.f("        let mut count = 0;\n        for item in %s.iter().take(%d) {\n            self.%s(item)?;\n            count += 1;\n        }\n        Ok(count)\n    }\n}", thing, limit, w.pick(actions))
	}
}

// training writes a part of a program that trains a model, or its log.
func (w *codeWriter) training() {
	width, layers := 64<<w.number(6), 2+w.number(30)
	if w.number(2) == 0 {
		w.f("class %sModel(nn.Module):\n    def __init__(self, width=%d, layers=%d, dropout=0.%d):\n        super().__init__()\n", title(w.pick(nouns)), width, layers, w.number(5))
		w.f("        self.embed = nn.Embedding(%d, width)\n        self.blocks = nn.ModuleList(Block(width, heads=%d) for _ in range(layers))\n", 1000*(1+w.number(120)), 1<<w.number(5))
		w.f("        self.head = nn.Linear(width, %d, bias=False)\n\n    def forward(self, ids, mask=None):\n        x = self.embed(ids)\n", 2+w.number(1000))
		w.WriteString("        for block in self.blocks:\n            x = block(x, mask)\n        return self.head(x)")
		return
	}
	loss := 2 + float64(w.number(8000))/1000
	for step := range 6 + w.number(10) {
		loss *= 0.9 + float64(w.number(100))/1000
		w.f("epoch %d step %d/%d loss %.4f lr %.2e grad_norm %.3f tokens/s %d\n", 1+step/4, 100*(step+1), 5000, loss, 3e-4/float64(step+1), float64(w.number(4000))/1000, 10000+w.number(90000))
	}
}

// shell writes commands and their output.
func (w *codeWriter) shell() {
	switch w.number(3) {
	case 0:
		n := 3 + w.number(5)
		w.f("$ git log -n %d %s\n", n, w.path("go"))
		for range n {
			w.f("%07x %s %s %s of a %s\n", w.number(1<<28), title(w.pick(actions)), w.pick(qualities), w.pick(nouns), w.pick(nouns))
		}
	case 1:
		w.f("$ grep -rn \"%s\" %s | head -%d\n", w.pick(nouns), w.pick(folders), 5+w.number(10))
		for range 4 + w.number(8) {
			w.f("%s:%d:    %s.%s(%s, %d)\n", w.path("py"), 1+w.number(900), w.pick(nouns), w.pick(actions), w.pick(nouns), w.number(64))
		}
	default:
		for range 6 + w.number(8) {
			level := []string{"DEBUG", "INFO", "INFO", "WARN", "ERROR"}[w.number(5)]
			w.f("2026-%02d-%02dT%02d:%02d:%02d.%03dZ %-5s %s.%s: %s %s id=%d took=%dms\n", 1+w.number(12), 1+w.number(28), w.number(24), w.number(60), w.number(60), w.number(1000),
				level, w.pick(folders), w.pick(nouns), w.pick(actions), w.pick(nouns), w.number(1_000_000), w.number(3000))
		}
	}
}

// object writes a JSON document.
func (w *codeWriter) object() {
	w.f("{\n  \"id\": \"%s-%06x\",\n  \"%s\": %d,\n  \"%s\": %t,\n  \"items\": [\n", w.pick(nouns), w.number(1<<24), w.pick(nouns), w.number(100_000), w.pick(qualities), w.number(2) == 0)
	n := 2 + w.number(5)
	for i := range n {
		w.f("    {\"name\": \"%s_%s\", \"%s\": %d.%02d, \"tags\": [\"%s\", \"%s\"]}", w.pick(actions), w.pick(nouns), w.pick(nouns), w.number(500), w.number(100), w.pick(qualities), w.pick(folders))
		if i < n-1 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
	}
	w.f("  ],\n  \"next\": null\n}")
}

// trace writes an error with its stack trace.
func (w *codeWriter) trace() {
	if w.number(2) == 0 {
		w.WriteString("Traceback (most recent call last):\n")
		for range 3 + w.number(4) {
			thing := w.pick(nouns)
			w.f("  File \"/srv/%s\", line %d, in %s_%s\n    %s = self.%s(%s)\n", w.path("py"), 1+w.number(800), w.pick(actions), thing, thing, w.pick(actions), w.pick(nouns))
		}
		w.f("RuntimeError: %s: %s %d", w.pick(failures), w.pick(nouns), w.number(10_000))
		return
	}
	w.f("panic: %s [%s %d]\n\ngoroutine %d [running]:\n", w.pick(failures), w.pick(nouns), w.number(1000), 1+w.number(500))
	for range 3 + w.number(4) {
		w.f("%s.(*%s).%s(0x%x)\n\t/src/%s:%d +0x%x\n", w.pick(folders), title(w.pick(nouns)), title(w.pick(actions)), w.number(1<<30), w.path("go"), 1+w.number(700), w.number(1<<10))
	}
}

// query writes SQL.
func (w *codeWriter) query() {
	a, b := w.pick(nouns), w.pick(nouns)
	w.f("SELECT a.id, a.%s_at, COUNT(b.id) AS %ss\nFROM %ss AS a\nLEFT JOIN %ss AS b ON b.%s_id = a.id\n", w.pick(qualities), b, a, b, a)
	w.f("WHERE a.%s = TRUE AND a.size > %d\nGROUP BY a.id\nHAVING COUNT(b.id) >= %d\nORDER BY %ss DESC\nLIMIT %d;", w.pick(qualities), w.number(10_000), 1+w.number(20), b, 10*(1+w.number(50)))
}

// settings writes a configuration, a diff or a part of a test.
func (w *codeWriter) settings() {
	switch w.number(3) {
	case 0:
		w.f("%s:\n  replicas: %d\n  image: registry.example/%s:%d.%d\n  env:\n", w.pick(nouns), 1+w.number(32), w.pick(nouns), w.number(9), w.number(30))
		for range 2 + w.number(5) {
			w.f("    - name: %s_%s\n      value: \"%d\"\n", strings.ToUpper(w.pick(nouns)), strings.ToUpper(w.pick(nouns)), w.number(5000))
		}
		w.f("  limits: {cpu: %d, memory: %dMi}", 1+w.number(16), 128<<w.number(6))
	case 1:
		path := w.path("ts")
		w.f("--- a/%s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", path, path, 1+w.number(300), 6, 1+w.number(300), 7)
		w.f(" const %s = load%s();\n-const limit = %d;\n+const limit = options.limit ?? %d;\n+assert(limit > 0, \"%s needs a limit\");\n return %s.slice(0, limit);",
			w.pick(nouns), title(w.pick(nouns)), w.number(500), w.number(500), w.pick(nouns), w.pick(nouns))
	default:
		w.f("def test_%s_%s_when_%s():\n    %s = make_%s(size=%d)\n    result = %s_%s(%s)\n    assert result.%s == %d\n    assert not result.errors",
			w.pick(actions), w.pick(nouns), w.pick(qualities), "it", w.pick(nouns), w.number(100), w.pick(actions), w.pick(nouns), "it", w.pick(qualities), w.number(100))
	}
}

// request writes a question of a user to an assistant and the start of the answer.
func (w *codeWriter) request() {
	asked := []string{
		"The THING service says \"FAILURE\" when two clients ACTION the same OTHER. Where does that come from, and what is the smallest change that mends it?",
		"Please ACTION the QUALITY THING in PATH without touching the OTHER, and write a test for the empty case.",
		"Why is it slow to ACTION a THING with NUMBER entries? Measure it first, then propose something that does not need more memory.",
		"Rename THING to QUALITY_THING everywhere, keep the old name working for one release, and list what you changed.",
	}
	answers := []string{
		"I read PATH first. The THING is shared with the OTHER, so the order in which they ACTION matters.",
		"There are NUMBER places that ACTION a THING; all but one hold the lock. The one that does not is in PATH.",
		"The test fails before the change with \"FAILURE\" and passes after it. The OTHER is not touched.",
	}
	words := strings.NewReplacer("THING", w.pick(nouns), "ACTION", w.pick(actions), "OTHER", w.pick(nouns), "QUALITY", w.pick(qualities),
		"FAILURE", w.pick(failures), "PATH", w.path("go"), "NUMBER", strconv.Itoa(2+w.number(50_000)))
	w.f("User: %s\nAssistant: %s", words.Replace(w.pick(asked)), words.Replace(w.pick(answers)))
}
