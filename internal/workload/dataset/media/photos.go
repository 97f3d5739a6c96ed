package media

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // format of source images
	_ "image/jpeg" // format of source images
	_ "image/png"  // format of source images
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	_ "golang.org/x/image/bmp"  // format of source images
	_ "golang.org/x/image/tiff" // format of source images
	_ "golang.org/x/image/webp" // format of source images

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/rng"
)

// bundled are the photographs of the source "assets"; pictures/README.md says whose they are.
//
//go:embed pictures/*.jpg
var bundled embed.FS

// Orders of source images.
const (
	samplingRandom     = "random-with-replacement"
	samplingShuffle    = "shuffle-cycle"
	samplingSequential = "sequential-cycle"
)

// extensions are the extensions of image files in a directory.
var extensions = []string{".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".gif", ".bmp", ".dib", ".tif", ".tiff", ".webp"}

// maxPhoto is the maximum size of a source image, in bytes.
const maxPhoto = 256 << 20

// photos holds source images and the order in which they are used.
type photos struct {
	files    []string
	readable []bool
	read     func(name string) ([]byte, error)
	warnings []string

	sampling   string
	stream     *rng.Stream
	candidates []int // candidates of random-with-replacement, including unreadable images that were not drawn yet
	round      []int // rest of the current round of shuffle-cycle
	at         int   // next image of sequential-cycle

	mu            sync.Mutex
	decoded       map[int]image.Image // limited to keptPixels
	decodedPixels int
}

// keptPixels is the maximum size of all decoded images in memory, in pixels of four bytes each.
const keptPixels = 16 << 20

// openPhotos lists the images of a source and tries to read each of them.
func openPhotos(source, sampling string, stream *rng.Stream) (*photos, error) {
	p := &photos{sampling: sampling, stream: stream, decoded: map[int]image.Image{}}
	var err error
	if source == sourceAssets {
		p.read = bundled.ReadFile
		p.files, err = embedded()
	} else {
		p.read = func(name string) ([]byte, error) { return boundedfile.ReadAll(name, maxPhoto) }
		p.files, err = picturesIn(source)
	}
	if err != nil {
		return nil, err
	}
	p.try()
	p.candidates = make([]int, len(p.files))
	for i := range p.candidates {
		p.candidates[i] = i
	}
	if !slices.Contains(p.readable, true) {
		return nil, fmt.Errorf("%s: none of its %d images can be read; supported are png, jpeg, gif, bmp, tiff and webp", source, len(p.files))
	}
	return p, nil
}

func embedded() ([]string, error) {
	entries, err := bundled.ReadDir("pictures")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		list = append(list, "pictures/"+e.Name())
	}
	return list, nil
}

// picturesIn lists the files of a directory with an image extension, by name. It skips subdirectories.
func picturesIn(dir string) ([]string, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("the directory %q does not exist; give another one, or \"noise\", or \"assets\"", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%q is not a directory; give one, or \"noise\", or \"assets\"", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))) && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no images in %q: files need one of the extensions %s", dir, strings.Join(extensions, ", "))
	}
	return list, nil
}

// try decodes every image, on all cores, and records the unreadable ones.
func (p *photos) try() {
	p.readable = make([]bool, len(p.files))
	failures := make([]error, len(p.files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(processors.Cores(), len(p.files)) {
		workers.Go(func() {
			for i := range next {
				_, failures[i] = p.load(i)
			}
		})
	}
	for i := range p.files {
		next <- i
	}
	close(next)
	workers.Wait()
	for i, err := range failures {
		if p.readable[i] = err == nil; err != nil {
			p.warnings = append(p.warnings, err.Error()+"; image skipped")
		}
	}
	if n := len(p.warnings); n > 3 {
		p.warnings = append(p.warnings[:3:3], fmt.Sprintf("and %d more images are skipped", n-3))
	}
}

// load reads and decodes an image. It is safe for concurrent use.
func (p *photos) load(i int) (image.Image, error) {
	p.mu.Lock()
	m := p.decoded[i]
	p.mu.Unlock()
	if m != nil {
		return m, nil
	}
	name := p.files[i]
	content, err := p.read(name)
	if err != nil {
		return nil, err
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(content)); err == nil && c.Width*c.Height > 4*maxPixels {
		return nil, fmt.Errorf("%s: %d × %d pixels are more than %d megapixels", name, c.Width, c.Height, 4*maxPixels>>20)
	}
	if m, _, err = image.Decode(bytes.NewReader(content)); err != nil {
		return nil, fmt.Errorf("%s: the image cannot be read: %w", name, err)
	}
	size := m.Bounds()
	if size.Empty() {
		return nil, fmt.Errorf("%s: the image is empty", name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := size.Dx() * size.Dy(); p.decoded[i] == nil && p.decodedPixels+n <= keptPixels {
		p.decodedPixels += n
		p.decoded[i] = m
	}
	return m, nil
}

// next draws an image. An unreadable one counts as drawn and is never drawn again, like in the Python tool.
func (p *photos) next() int {
	for {
		i := p.pick()
		if p.readable[i] {
			return i
		}
		p.candidates = slices.DeleteFunc(p.candidates, func(k int) bool { return k == i })
		p.round = slices.DeleteFunc(p.round, func(k int) bool { return k == i })
	}
}

func (p *photos) pick() int {
	switch p.sampling {
	case samplingSequential:
		i := p.at
		p.at = (p.at + 1) % len(p.files)
		return i
	case samplingShuffle:
		if len(p.round) == 0 {
			p.round = slices.Clone(p.candidates)
			p.stream.Numpy().Shuffle(len(p.round), func(i, j int) { p.round[i], p.round[j] = p.round[j], p.round[i] })
		}
		last := len(p.round) - 1
		i := p.round[last]
		p.round = p.round[:last]
		return i
	}
	return p.candidates[p.stream.Below(len(p.candidates))]
}
