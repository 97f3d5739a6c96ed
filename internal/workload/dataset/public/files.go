package public

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/table"
)

// File names of sets in one file, in the repository and in the cache of the working directory. The Python tool uses the same cache.
const (
	shareGPTFile    = "ShareGPT_V3_unfiltered_cleaned_split.json"
	specBenchFile   = "spec_bench.jsonl"
	specBenchSource = "data/spec_bench/question.jsonl" // path in its repository
	// specBenchAddress is the URL of the file at the commit that the contract names.
	specBenchAddress = "https://raw.githubusercontent.com/hemingkx/Spec-Bench/fd2c1cd7d2201ef71db4c5f4e455008f017967bf/" + specBenchSource
	maxSpecBench     = 64 << 20 // bytes
)

// Length limits in tokens for chats of ShareGPT, from the sampling of vLLM's and the Python tool's benchmarks.
const (
	shortest        = 4
	longestPrompt   = 1024
	longestTogether = 2048
)

// cached opens a file in the local directory given for the repository, else in the cache of the working directory; nil = not found.
func (b *builder) cached(name string) (table.Reader, error) {
	if dir := b.options.Hub.Dir; dir != "" {
		path := filepath.Join(dir, name)
		r, err := table.Open(path)
		return r, boundedfile.Named(path, err)
	}
	r, err := table.Open(filepath.Join(b.options.Cache, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

// each calls f for every row and closes the table.
func each(ctx context.Context, in table.Reader, name string, f func(row) error) error {
	defer in.Close()
	for n := 0; ; n++ {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(row{r, fmt.Sprintf("%s row %d", name, n)})
		}
		if err != nil {
			return err
		}
	}
}

// readShareGPT reads chats of people with a model. Every answered message becomes a turn, with the length of the answer as its output length.
func readShareGPT(ctx context.Context, b *builder) error {
	in, err := b.cached(shareGPTFile)
	if err != nil {
		return err
	}
	if in == nil {
		if in, err = b.fetchShareGPT(ctx); err != nil {
			return err
		}
	}
	count, err := b.options.Count()
	if err != nil {
		_ = in.Close() // no row was read
		return err
	}
	err = each(ctx, in, shareGPTFile, func(r row) error {
		b.rows++
		turns, why := shareGPTTurns(r, count)
		if why != "" {
			return b.skip(why)
		}
		b.Add(conversation.Conversation{Turns: turns})
		return nil
	})
	if err != nil {
		return err
	}
	return b.reportSkipped()
}

// fetchShareGPT downloads the file from the hub and also links it into the cache of the working directory.
func (b *builder) fetchShareGPT(ctx context.Context) (table.Reader, error) {
	b.options.Hub.Content = hfhub.Datasets
	snapshot, err := b.options.Hub.Snapshot(ctx, b.set.Repo, "main")
	if err != nil {
		return nil, err
	}
	path, err := snapshot.File(ctx, shareGPTFile)
	if err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && os.MkdirAll(b.options.Cache, 0o755) == nil {
		_ = os.Link(target, filepath.Join(b.options.Cache, shareGPTFile)) // linking fails across file systems; the cache of the hub still has the file
	}
	return table.Open(path)
}

// shareGPTTurns returns the turns of an entry, or the reason why it is skipped.
func shareGPTTurns(r row, count func(string) int) (turns []conversation.Turn, why string) {
	list, _ := r.Row["conversations"].([]any)
	if len(list) < 2 {
		return nil, "with fewer than two messages"
	}
	for _, p := range pairs(list) {
		if p[0] == "" || p[1] == "" {
			continue
		}
		prompt, answer := count(p[0]), count(p[1])
		if prompt < shortest || prompt > longestPrompt || answer < shortest || prompt+answer > longestTogether {
			return nil, "too short or too long"
		}
		turns = append(turns, conversation.Turn{Parts: conversation.Texts("", p[0]), MaxTokens: &answer, Origin: r.where})
	}
	if len(turns) == 0 {
		return nil, "without a message that was answered"
	}
	return turns, ""
}

// pairs returns the user messages that a model answered, with the answers. If no message has a user role, it returns the first two messages.
func pairs(list []any) (found [][2]string) {
	var who, what []string
	var all []string
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		value := optional(m["value"])
		all = append(all, value)
		switch from := optional(m["from"]); from {
		case "human", "gpt":
			who, what = append(who, from), append(what, value)
		}
	}
	if len(who) == 0 && len(all) >= 2 {
		return [][2]string{{all[0], all[1]}}
	}
	for i := 0; i+1 < len(who); i++ {
		if who[i] == "human" && who[i+1] == "gpt" {
			found = append(found, [2]string{what[i], what[i+1]})
			i++
		}
	}
	return found
}

// readSpecBench reads the first turn of every Spec-Bench question.
func readSpecBench(ctx context.Context, b *builder) error {
	in, err := b.specBench(ctx)
	if err != nil {
		return err
	}
	err = each(ctx, in, specBenchFile, func(r row) error {
		b.rows++
		list, ok := r.Row["turns"].([]any)
		if !ok || len(list) == 0 {
			return b.skip("without turns")
		}
		t := strings.TrimSpace(optional(list[0]))
		if t == "" {
			return b.skip("without text")
		}
		b.Add(single(r.where, textPart(t)))
		return nil
	})
	if err != nil {
		return err
	}
	return b.reportSkipped()
}

// specBench opens the file. A local directory given for the repository may have it at the same path as the repository.
func (b *builder) specBench(ctx context.Context) (table.Reader, error) {
	if dir := b.options.Hub.Dir; dir != "" {
		if in, err := table.Open(filepath.Join(dir, filepath.FromSlash(specBenchSource))); err == nil {
			return in, nil
		}
	}
	in, err := b.cached(specBenchFile)
	if in != nil || err != nil {
		return in, err
	}
	if err := b.fetchSpecBench(ctx); err != nil {
		return nil, err
	}
	return b.cached(specBenchFile)
}

// fetchSpecBench downloads the file into the cache of the working directory.
func (b *builder) fetchSpecBench(ctx context.Context) error {
	path := filepath.Join(b.options.Cache, specBenchFile)
	if b.options.Hub.Offline != "" {
		return fmt.Errorf("%s forbids downloads, and %s does not exist", b.options.Hub.Offline, path)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, specBenchAddress, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w; or download the file yourself to %s", err, path)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP %s; or download the file yourself to %s", specBenchAddress, resp.Status, path)
	}
	if err := os.MkdirAll(b.options.Cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(b.options.Cache, ".fetch*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	n, err := io.Copy(tmp, io.LimitReader(resp.Body, maxSpecBench))
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil && resp.ContentLength >= 0 && n != resp.ContentLength {
		err = fmt.Errorf("%s: the download is incomplete: %d of %d bytes", specBenchAddress, n, resp.ContentLength)
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
