package hfhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// address returns the URL of a file of a commit.
func (f *fetcher) address(commit, name string) string {
	repo := f.repo
	if f.content() != Models {
		repo = string(f.content()) + "/" + repo
	}
	return f.Endpoint + "/" + repo + "/resolve/" + commit + "/" + (&url.URL{Path: name}).EscapedPath()
}

// file downloads one file of a commit to the cache.
func (f *fetcher) file(ctx context.Context, commit, name string, known fact) (string, error) {
	blobs := filepath.Join(f.folder(f.repo), "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return "", f.disk(err)
	}
	tmp, err := openPartial(blobs, commit+"/"+name)
	if err != nil {
		return "", f.disk(err)
	}
	defer tmp.Close()
	if err := f.checkSpace(blobs, name, known.size, tmp); err != nil {
		return "", tmp.giveUp(err)
	}
	etag, err := f.download(ctx, f.address(commit, name), name, known, tmp)
	if err != nil {
		return "", tmp.giveUp(err)
	}
	path, err := f.store(f.repo, commit, name, tmp.Name(), etag)
	if err != nil {
		return "", f.disk(err)
	}
	tmp.markStored()
	return path, f.markVerified(path)
}

// markVerified records that a file was just verified.
func (f *fetcher) markVerified(path string) error {
	if err := f.intact(path, ""); err != nil {
		return f.damaged(f.repo, f.rev, path, err)
	}
	return nil
}

// checkSpace returns an error if the disk has no space for the rest of a file of known size.
func (f *fetcher) checkSpace(dir, name string, size int64, tmp *partial) error {
	free := FreeBytes
	if f.Free != nil {
		free = f.Free
	}
	info, err := tmp.Stat()
	if err != nil {
		return f.disk(err)
	}
	left, ok := free(dir)
	if need := size - onDisk(info); ok && need > left {
		return f.fail(DiskFull, f.repo, f.rev, fmt.Errorf("%s needs %s more disk space, but only %s are free", name, Size(need), Size(left)), f.Cache)
	}
	return nil
}

// download downloads address to tmp and returns the blob's name. It downloads large files in parallel parts, others in one piece.
func (f *fetcher) download(ctx context.Context, address, name string, known fact, tmp *partial) (string, error) {
	if known.size >= inPartsFrom {
		err := f.inParts(ctx, address, name, known, tmp)
		if !errors.Is(err, errNoRanges) {
			if err != nil {
				return "", err
			}
			return f.verify(tmp.File, known.tag, known.size, address)
		}
	}
	return f.downloadWhole(ctx, address, name, tmp)
}

// downloadWhole downloads address in one piece. It continues where a broken connection stopped.
func (f *fetcher) downloadWhole(ctx context.Context, address, name string, tmp *partial) (etag string, err error) {
	done, err := tmp.resumeOffset()
	if err != nil {
		return "", f.disk(err)
	}
	most, limit := done, int64(maxFile)
	if f.content() == Datasets {
		limit = maxData
	}
	err = f.retry(ctx, address, 0, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stall := orDefault(f.Stall, 30*time.Second)
		watch := time.AfterFunc(stall, cancel)
		defer watch.Stop()
		resp, c, err := f.get(ctx, address, span{from: done, open: true})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusPartialContent {
			done = 0
		}
		if etag = c.tag; c.size > limit {
			return permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("%s has %d bytes; at most %d are allowed", name, c.size, limit), address)}
		}
		if _, err := tmp.Seek(done, io.SeekStart); err != nil {
			return permanentError{f.disk(err)}
		}
		if err := tmp.Truncate(done); err != nil {
			return permanentError{f.disk(err)}
		}
		f.reportProgress(name, done, c.size)
		body := &meter{r: io.LimitReader(resp.Body, limit-done), tick: func(n int) {
			watch.Reset(stall)
			done += int64(n)
			f.reportProgress(name, done, c.size)
		}}
		err = f.copy(tmp, body)
		gain := done - most
		most = max(most, done)
		if err != nil {
			return after(fmt.Errorf("%s: after %d bytes: %w", name, done, err), gain)
		}
		if c.size >= 0 && done != c.size {
			return after(fmt.Errorf("%s: got %d bytes, expected %d", name, done, c.size), gain)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return f.verify(tmp.File, etag, done, address)
}

// reportProgress reports the progress of a file.
func (f *fetcher) reportProgress(name string, done, size int64) {
	if f.Progress != nil {
		f.Progress(name, done, size)
	}
}

// copy copies data. A write error is permanent, so it is not retried.
func (f *fetcher) copy(to io.Writer, from io.Reader) error {
	disk := &diskWriter{to: to}
	_, err := io.Copy(disk, from)
	if disk.err != nil {
		return permanentError{f.disk(disk.err)}
	}
	return err
}

// diskWriter stores the error of a failed write.
type diskWriter struct {
	to  io.Writer
	err error
}

func (d *diskWriter) Write(p []byte) (n int, err error) {
	n, d.err = d.to.Write(p)
	return n, d.err
}

// meter counts the bytes read.
type meter struct {
	r    io.Reader
	tick func(n int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.tick(n)
	return n, err
}
